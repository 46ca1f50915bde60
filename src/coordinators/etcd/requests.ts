import { createHash } from 'node:crypto'

import { LockUsageError } from '../../core/errors.ts'
import { EtcdError, grpc } from './errors.ts'
import type { Gateway, Json } from './gateway.ts'

/** A key as it stands in the cluster. */
export interface KeySeen {
  /** Empty when the lease was released, and is kept from others still. */
  readonly owner: string
  /** The revision of the whole cluster at which the key was made: it only ever rises. */
  readonly fence: number
  /** The lease of etcd's own that ends it. */
  readonly leaseId: string
  /** The revision at which it was last changed. */
  readonly revision: number
}

/** What a member knew when it answered. */
export interface Seen {
  readonly key: KeySeen | undefined
  /** The term of the leader, by the member that answered. */
  readonly term: string
}

/** The lease of an owner for that many seconds: etcd cannot change the time of one that it has. */
export function leaseIdOf(owner: string, seconds: number): string {
  const digest = createHash('sha256').update(`${owner} ${seconds}`).digest()
  // 63 bits, and not 0, for which etcd chooses one itself
  return ((digest.readBigUInt64BE() >> 1n) | 1n).toString()
}

/** Never shorter than asked: etcd counts in whole seconds. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

/** Makes a lease of etcd's own. One that is there already was made by a request whose answer was lost. */
export async function grant({ call }: Gateway, leaseId: string, seconds: number): Promise<void> {
  try {
    await call('/v3/lease/grant', { ID: leaseId, TTL: String(seconds) })
  } catch (error) {
    const isThere = error instanceof EtcdError && error.code === grpc.failedPrecondition
    if (!isThere || !/already exists/.test(error.message)) throw error
    await keepAlive({ call }, leaseId)
  }
}

/** Where a lease of etcd's own is ended. */
export const revocation = '/v3/lease/revoke'

/** Ends a lease of etcd's own that no key needs. It would end by itself, so nobody waits for that. */
export function revoke({ call }: Pick<Gateway, 'call'>, leaseId: string): void {
  call(revocation, { ID: leaseId }).catch(() => {})
}

/** Gives the whole time again. Undefined when the lease is over; otherwise the leader's term. */
export async function keepAlive(
  { call }: Pick<Gateway, 'call'>,
  leaseId: string,
): Promise<string | undefined> {
  const { result } = (await call('/v3/lease/keepalive', { ID: leaseId })) as { readonly result?: Json }
  return Number(result?.TTL ?? 0) > 0 ? termIn(result ?? {}) : undefined
}

/** How many seconds a lease of etcd's own has left; below 0 when it is over. */
export async function secondsLeft({ call }: Gateway, leaseId: string): Promise<number> {
  const { TTL = 0 } = await call('/v3/lease/timetolive', { ID: leaseId })
  return Number(TTL)
}

/** The key as most members have it. */
export async function read({ call }: Gateway, key: string): Promise<Seen> {
  const answer = await call('/v3/kv/range', { key: bytes(key) })
  return { key: keyIn(answer), term: termIn(answer) }
}

/** etcd refuses a transaction of more than 128 operations, unless it is told otherwise. */
const mostAtOnce = 128

/** Which of these keys there are, as most members have them: in one request for each {@link mostAtOnce} of them. */
export async function exist({ call }: Gateway, keys: readonly string[]): Promise<readonly boolean[]> {
  const parts = Array.from({ length: Math.ceil(keys.length / mostAtOnce) }, (_, part) =>
    keys.slice(part * mostAtOnce, (part + 1) * mostAtOnce),
  )
  const answers = await Promise.all(
    parts.map((part) =>
      call('/v3/kv/txn', {
        success: part.map((key) => ({ request_range: { key: bytes(key), count_only: true } })),
      }),
    ),
  )
  return answers.flatMap(({ responses }) =>
    (responses as readonly { readonly response_range: Json }[]).map(
      ({ response_range: { count = 0 } }) => Number(count) > 0,
    ),
  )
}

/** What has to be so for a change to be made. */
export interface Condition {
  /** Undefined for a key that nobody has. */
  readonly owner: string | undefined
  readonly fence?: number | undefined
  /** As it was last changed: a request that is late, and was made again meanwhile, then changes nothing. */
  readonly revision?: number
}

export type Change =
  | { readonly owner: string; readonly leaseId: string }
  /** Deletes the key. */
  | 'delete'

/** What became of a change, and the key from before, or as it is where nothing was changed. */
export interface Changed extends Pick<Seen, 'key'> {
  readonly isDone: boolean
  readonly revision: number
}

/** Changes the key if it is as expected, both in one transaction. */
export async function change(
  { call }: Gateway,
  key: string,
  { condition, to }: { readonly condition: Condition; readonly to: Change },
): Promise<Changed> {
  const name = bytes(key)
  const range = { request_range: { key: name } }
  const done =
    to === 'delete'
      ? { request_delete_range: { key: name } }
      : { request_put: { key: name, value: bytes(to.owner), lease: to.leaseId } }
  const answer = await call('/v3/kv/txn', {
    compare: comparisons(name, condition),
    success: [range, done],
    failure: [range],
  })
  const [first] = (answer.responses ?? []) as readonly { readonly response_range?: Json }[]
  const { revision } = (answer.header ?? {}) as { readonly revision?: string }
  return {
    isDone: answer.succeeded === true,
    key: keyIn(first?.response_range ?? {}),
    revision: numberOf(revision),
  }
}

function comparisons(key: string, { owner, fence, revision }: Condition): readonly Json[] {
  if (owner === undefined) return [{ key, target: 'CREATE', result: 'EQUAL', create_revision: '0' }]
  const isOwners = { key, target: 'VALUE', result: 'EQUAL', value: bytes(owner) }
  const isOf = { key, target: 'CREATE', result: 'EQUAL', create_revision: String(fence) }
  const isSince = { key, target: 'MOD', result: 'EQUAL', mod_revision: String(revision) }
  return [isOwners, ...(fence === undefined ? [] : [isOf]), ...(revision === undefined ? [] : [isSince])]
}

function keyIn({ kvs }: Json): KeySeen | undefined {
  const [kv] = (kvs ?? []) as readonly {
    readonly value?: string
    readonly create_revision?: string
    readonly mod_revision?: string
    readonly lease?: string
  }[]
  if (kv === undefined) return undefined
  return {
    owner: Buffer.from(kv.value ?? '', 'base64').toString(),
    fence: numberOf(kv.create_revision),
    leaseId: kv.lease ?? '0',
    revision: numberOf(kv.mod_revision),
  }
}

function termIn({ header }: Json): string {
  return String((header as { readonly raft_term?: string } | undefined)?.raft_term)
}

/** A revision that JavaScript cannot tell from the next one is no fence. It takes thousands of years to get there. */
function numberOf(revision: string | undefined): number {
  const number = Number(revision ?? 0)
  if (Number.isSafeInteger(number)) return number
  throw new LockUsageError(
    'fence',
    `the revision ${revision} of this etcd is too high to be told from the next`,
  )
}

export function bytes(text: string): string {
  return Buffer.from(text).toString('base64')
}
