import { checkName, show } from '../../core/check-field.ts'
import { LockLostError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import { maxHeld, type EndPlan, type HeldClaims } from '../../dialects/claim.ts'
import { callQueue, type ClaimVisit } from './claim-call.ts'
import { complete, inTransaction, type ClaimPort } from './claim.ts'
import { mustBeExact, readId } from './exact-id.ts'
import type { JobKey, JobOptions } from './job.ts'
import type { Queue } from './queue-definition.ts'
import { partOf } from '../transaction/part.ts'

/** Some of the jobs that were to end together are no longer this claim's. All others have ended. */
export class JobsLostError extends LockLostError {
  /** Those whose time was over, or that have ended before. */
  readonly lost: readonly JobKey[]

  constructor(lost: readonly JobKey[], count: number) {
    const few = lost.slice(0, 5).map(({ id }) => show(id))
    const more = lost.length > few.length ? ' ...' : ''
    super(
      `${lost.length} of ${count} jobs are no longer this claim's (${few.join(', ')}${more}): ` +
        'their time was over, or they have ended',
    )
    this.lost = lost
  }
}

/**
 * Ends many jobs: in one round trip where the engine tells which rows it has changed.
 *
 * Every job that is still this claim's ends, whatever became of the others; then it rejects with {@link JobsLostError}
 * if there were others. In a transaction of the caller nothing has ended before that commits.
 */
export async function completeAll<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  ended: Ended,
): Promise<void> {
  const end = (): Promise<void> => endAll(claims, queue, ended)
  return ended.tx === undefined ? end() : partOf(claims.find(ended.tx as Tx), end)
}

type Ended = { readonly jobs: readonly JobKey[] } & JobOptions

async function endAll<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { jobs, tx }: Ended,
): Promise<void> {
  const lost: JobKey[] = []
  const claimed = byClaim(jobs)
  for (const group of groupsOf(claimed)) {
    const ended = await endGroup(claims, queue, { group, tx })
    // a statement changes no row that is not in its list, so none is missing when there are as many
    if (ended.length < group.length) lost.push(...without(group, ended))
  }
  if (lost.length > 0) throw new JobsLostError(lost, countOf(claimed))
}

/** Jobs of one claim, no more than one statement takes. */
type Group = readonly JobKey[]

/** By their token, and then by their id: a job that is named twice ends once. */
type Claimed = ReadonlyMap<string, ReadonlyMap<string, JobKey>>

function byClaim(jobs: readonly JobKey[]): Claimed {
  const claimed = new Map<string, Map<string, JobKey>>()
  for (const job of jobs) {
    let own = claimed.get(job.token)
    if (own === undefined) claimed.set(checkName('job.token', job.token), (own = new Map<string, JobKey>()))
    own.set(textOf(job.id), job)
  }
  return claimed
}

function groupsOf(claimed: Claimed): readonly Group[] {
  return [...claimed.values()].flatMap((own) => {
    const all = [...own.values()]
    return Array.from({ length: Math.ceil(all.length / maxHeld) }, (_, part) =>
      all.slice(part * maxHeld, (part + 1) * maxHeld),
    )
  })
}

function countOf(claimed: Claimed): number {
  return [...claimed.values()].reduce((sum, own) => sum + own.size, 0)
}

function without(group: Group, ended: readonly unknown[]): readonly JobKey[] {
  const texts = new Set(ended.map(textOf))
  return group.filter(({ id }) => !texts.has(textOf(id))).map(({ id, token }) => ({ id, token }))
}

interface GroupEnd {
  readonly group: Group
  readonly tx: unknown
}

/** The ids that have ended. */
async function endGroup<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { group, tx }: GroupEnd,
): Promise<readonly unknown[]> {
  const { port, find } = claims
  const held = heldOf(group, tx)
  const send = async ({
    session,
    dialect,
    claiming,
  }: ClaimVisit): Promise<readonly unknown[] | undefined> => {
    const plan = claiming.completeAll?.(queue.shape, held, queue.done)
    if (plan === undefined) return undefined
    const rows = await (tx === undefined ? sendAlone({ session, dialect }, plan) : sendPlan(session, plan))
    return rows.map((row) => readId(row, queue.shape.id, claiming))
  }
  const ended =
    tx === undefined
      ? await callQueue(port, { queue, work: send })
      : await inTransaction(find(tx as Tx), send)
  return ended ?? oneByOne(claims, queue, { group, tx })
}

function heldOf(group: Group, tx: unknown): HeldClaims {
  return {
    ids: group.map(({ id }) => mustBeExact('job.id', id)),
    token: group[0]?.token ?? '',
    ...(tx !== undefined && { inTransaction: true }),
  }
}

/** The rows that tell the ids. */
async function sendPlan(session: Session, { look, change }: EndPlan): Promise<readonly Row[]> {
  if (look === undefined) return session.run(change)
  const rows = await session.run(look)
  if (rows.length > 0) await session.run(change)
  return rows
}

/** A look and the change after it are one only in a transaction. */
async function sendAlone(
  visit: Pick<ClaimVisit, 'session' | 'dialect'>,
  plan: EndPlan,
): Promise<readonly Row[]> {
  const send = (): Promise<readonly Row[]> => sendPlan(visit.session, plan)
  return plan.look === undefined ? send() : inOwnTransaction(visit, send)
}

/** Sends statements as one. */
export async function inOwnTransaction<T>(
  { session, dialect }: Pick<ClaimVisit, 'session' | 'dialect'>,
  send: () => Promise<T>,
): Promise<T> {
  const { writeMode } = dialect.transaction
  await session.begin(writeMode === undefined ? {} : { mode: writeMode })
  try {
    const result = await send()
    await session.commit()
    return result
  } catch (error) {
    // when this fails as well, nobody knows what the session holds: its own error ends the session
    await session.rollback()
    throw error
  }
}

async function oneByOne<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { group, tx }: GroupEnd,
): Promise<readonly unknown[]> {
  const ended: unknown[] = []
  for (const job of group) {
    try {
      await complete(claims, queue, { ...job, tx })
      ended.push(job.id)
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error
    }
  }
  return ended
}

/** The same text for the same id, as it came with the claim and as it comes back. */
export function textOf(id: unknown): string {
  if (id instanceof Uint8Array) return Buffer.from(id).toString('hex')
  return typeof id === 'object' ? JSON.stringify(id) : `${id as string | number | bigint | boolean}`
}
