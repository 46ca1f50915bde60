import type { Row } from '../../core/statement.ts'
import { EtcdError, grpc } from './errors.ts'
import type { Gateway } from './gateway.ts'
import type { Operation } from './lease.ts'
import {
  change,
  exist,
  grant,
  keepAlive,
  leaseIdOf,
  read,
  revoke,
  secondsLeft,
  wholeSeconds,
  type Changed,
} from './requests.ts'

type Does<Name extends Operation['operation']> = (
  gateway: Gateway,
  does: Extract<Operation, { readonly operation: Name }>,
) => Promise<readonly Row[]>

const no: readonly Row[] = [{ answer: 0 }]
const yes: readonly Row[] = [{ answer: 1 }]

/** A lease that is seen to be held costs no more than the look. */
const acquire: Does<'acquire'> = async (gateway, { key, claim: { owner, ttlMs } }) => {
  const { key: seen } = await read(gateway, key)
  if (seen !== undefined && seen.owner !== owner) return no
  const seconds = wholeSeconds(ttlMs)
  const leaseId = leaseIdOf(owner, seconds)
  const taken = await take(gateway, { key, owner, leaseId, seconds }).catch((error: unknown) => {
    // with it goes the key, if it was taken all the same
    revoke(gateway, leaseId)
    throw error
  })
  if (taken.isDone) return [{ answer: 1, fence: taken.revision }]
  // taken by a request of this very claim, whose answer was lost
  if (taken.key?.owner === owner) return [{ answer: 1, fence: taken.key.fence }]
  revoke(gateway, leaseId)
  return no
}

interface Taking {
  readonly key: string
  readonly owner: string
  readonly leaseId: string
  readonly seconds: number
}

async function take(gateway: Gateway, { key, owner, leaseId, seconds }: Taking): Promise<Changed> {
  await grant(gateway, leaseId, seconds)
  return change(gateway, key, { condition: { owner: undefined }, to: { owner, leaseId } })
}

/**
 * A member that still takes itself for the leader may keep a lease alive that another leader has ended. So the key is
 * read afterwards, for which most members are asked, and both have to be of one term.
 */
const renew: Does<'renew'> = async (gateway, { key, held: { owner, fence }, ttlMs }) => {
  const seconds = wholeSeconds(ttlMs)
  const leaseId = leaseIdOf(owner, seconds)
  const kept = await keepAlive(gateway, leaseId)
  const { key: seen, term } = await read(gateway, key)
  if (seen?.owner !== owner || seen.fence !== fence) return no
  if (kept !== undefined && kept !== term)
    throw new EtcdError(grpc.aborted, 'the leader of the etcd cluster has changed under a renewal')
  if (kept !== undefined && seen.leaseId === leaseId) return yes
  // The lease has another time than before. The one of etcd's own that it had ends by itself: the holder may come back to
  // that time, and a revocation that arrives late would then delete the key.
  if (kept === undefined) await grant(gateway, leaseId, seconds)
  const condition = { owner, fence, revision: seen.revision }
  const moved = await change(gateway, key, { condition, to: { owner, leaseId } })
  // moved by a request of this very renewal, whose answer was lost
  const isThere = moved.key?.owner === owner && moved.key.fence === fence && moved.key.leaseId === leaseId
  const isMoved = moved.isDone || isThere
  // only where it cannot come back: of a lease that is still this owner's, the key may be moved here by the next renewal
  if (moved.key?.owner !== owner) revoke(gateway, leaseId)
  return isMoved ? yes : no
}

/** The key goes, or stays without an owner for as long as nobody else is to have it. */
const release: Does<'release'> = async (gateway, { key, holder: { owner, fence }, holdMs }) => {
  const condition = { owner, fence }
  const seconds = wholeSeconds(holdMs)
  const holding = leaseIdOf(`${owner} holds`, seconds)
  if (holdMs > 0) await grant(gateway, holding, seconds)
  const to = holdMs > 0 ? { owner: '', leaseId: holding } : 'delete'
  const freed = await change(gateway, key, { condition, to })
  if (freed.isDone && freed.key !== undefined) revoke(gateway, freed.key.leaseId)
  if (!freed.isDone && holdMs > 0) revoke(gateway, holding)
  return freed.isDone ? yes : no
}

const holder: Does<'holder'> = async (gateway, { key }) => {
  const { key: seen } = await read(gateway, key)
  if (seen === undefined) return no
  const seconds = await secondsLeft(gateway, seen.leaseId)
  if (seconds < 0) return no
  // etcd leaves out what is not a whole second: with none left the lease is held still
  const remainingMs = Math.max(1, seconds * 1000)
  return [{ answer: 1, owner: seen.owner, fence: seen.fence, remaining_ms: remainingMs }]
}

/** When each of them ends is not asked: that would be one more request for each, and a watch tells of the end. */
const look: Does<'look'> = async (gateway, { names, keyOf }) => {
  const areThere = await exist(gateway, names.map(keyOf))
  return names.filter((_, index) => areThere[index] === true).map((name) => ({ name }))
}

const all = { acquire, renew, release, holder, look }

/** The compiler cannot follow that a name and its operation belong together. */
export function perform(gateway: Gateway, does: Operation): Promise<readonly Row[]> {
  const operation = all[does.operation] as (gateway: Gateway, does: Operation) => Promise<readonly Row[]>
  return operation(gateway, does)
}
