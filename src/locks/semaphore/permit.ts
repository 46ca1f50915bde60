import { deadlineIn } from '../../core/deadline.ts'
import { RetryableTransactionError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { permitNames } from '../../core/permit-name.ts'
import { takeTurn } from '../lane.ts'
import { forget } from '../lease/acquire.ts'
import type { Lease, Leases, WaitForGrant } from '../lease/lease.ts'
import { nowaitAnswerMs, nowaitRepeatMs, refusedOf } from '../lease/wait.ts'
import { NoConnectionError } from '../open-session.ts'
import { askedOn, notAvailable, notInTime, type Asked } from '../refused.ts'
import { isAnybodyWaiting, takeAtDoor } from './door.ts'
import { checkPermits, type PermitOptions, type SemaphoreOptions } from './options.ts'
import { look, takeOne, type Search, type Taken } from './slots.ts'

/** A permit that is asked for. */
export interface PermitRequest {
  readonly key: LockKey
  /** What a lease of the same key is called. */
  readonly name: string
  readonly options: SemaphoreOptions & PermitOptions
}

/** Waits for a permit as asked, and holds it as a lease. */
export async function takePermit(
  leases: Leases,
  request: PermitRequest,
): Promise<Lease & Pick<Taken, 'slot'>> {
  const { key, name, options } = request
  const { permits, ...leaseOptions } = options
  const names = permitNames(name)
  let slot = -1
  const waitFor: WaitForGrant = async (shop, asked) => {
    const isPatient = asked.wait !== 'nowait'
    const timeoutMs = typeof asked.wait === 'object' ? asked.wait.timeoutMs : undefined
    const deadline = deadlineIn(isPatient ? timeoutMs : nowaitAnswerMs)
    const taken = await grantOf({
      shop,
      asked,
      leases,
      names,
      permits: () => checkPermits(permits),
      table: shop.table,
      deadline,
      repeatUntil: isPatient ? deadline : deadlineIn(nowaitRepeatMs),
      mayRepeat: isPatient,
    })
    slot = taken.slot
    return taken.grant
  }
  const lease = await leases.take({ key, name, noun: 'permit of semaphore', options: leaseOptions }, waitFor)
  return Object.assign(lease, { slot })
}

/** Whatever ends the wait, nothing stays granted that nobody knows of. */
async function grantOf(search: Search): Promise<Taken> {
  const { shop, asked } = search
  asked.signal?.throwIfAborted()
  const taken = await (asked.wait === 'nowait' ? takeNow(search) : takeInTurn(search))
  if (asked.signal?.aborted !== true) return taken
  void forget(shop.port, { ...taken.grant.held, ttlMs: asked.ttlMs })
  throw asked.signal.reason
}

/** What those of this process stand in who want a permit of this semaphore. */
function laneOf({ shop, names }: Search): string {
  return `${shop.id} permits ${names.door}`
}

/** How often somebody who does not wait looks again, because others took what it saw free. */
const maxLooks = 5

async function takeNow(search: Search): Promise<Taken> {
  const { shop, asked, deadline } = search
  const refused = refusedOf(asked)
  const refusal = (because: string, cause?: unknown): Error =>
    notAvailable(askedOn(shop.port, { ...refused, because }), cause)
  try {
    for (let looks = 1; looks <= maxLooks; looks += 1) {
      if (isAnybodyWaiting(laneOf(search))) throw refusal('others wait for one')
      const seen = await look(search)
      if (seen.isDoorTaken) throw refusal('others wait for one')
      const taken = await takeOne(search, seen)
      if (taken !== undefined) return taken
      if (seen.free.length === 0) break
    }
  } catch (error) {
    if (asked.signal?.aborted === true || error instanceof NoConnectionError) throw error
    const isBusy = error instanceof RetryableTransactionError || deadline.isPast()
    throw isBusy ? refusal('the database is busy', error) : error
  }
  throw refusal(allTaken(search))
}

/** Those of one process have their turn in the order of asking, and only the first of them asks the server. */
async function takeInTurn(search: Search): Promise<Taken> {
  const { shop, asked, deadline } = search
  const refused: Asked = refusedOf(asked)
  const lane = laneOf(search)
  let endTurn: (() => void) | undefined
  try {
    endTurn = await takeTurn(lane, { deadline, signal: asked.signal })
    const seen = await look(search)
    // whoever comes to a free permit while others wait for one stands behind them
    const found = seen.isDoorTaken ? undefined : await takeOne(search, seen)
    return found ?? (await takeAtDoor(search, lane))
  } catch (error) {
    if (asked.signal?.aborted === true || !deadline.isPast()) throw error
    throw notInTime(askedOn(shop.port, refused), error)
  } finally {
    endTurn?.()
  }
}

function allTaken({ permits }: Search): string {
  const count = permits()
  return count === 1 ? 'the only permit is taken' : `all ${count} permits are taken`
}
