import { deadlineIn } from '../../core/deadline.ts'
import { LockNotAvailableError, LockTimeoutError, RetryableTransactionError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { permitNames, type PermitKind } from '../../core/permit-name.ts'
import type { LockMode } from '../../core/request.ts'
import { lengthOfLine, takeTurn } from '../lane.ts'
import { forget } from '../lease/acquire.ts'
import type { Lease, Leases, WaitForGrant } from '../lease/lease.ts'
import { nowaitAnswerMs, nowaitRepeatMs, refusedOf } from '../lease/wait.ts'
import { NoAnswerError } from '../limit.ts'
import { NoConnectionError } from '../open-session.ts'
import { askedOn, notAvailable, notInTime, type Asked } from '../refused.ts'
import { isAnybodyWaiting, takeAtDoor, untilAnybodyWaits } from './door.ts'
import { checkPermits, type PermitOptions, type SemaphoreOptions } from './options.ts'
import { createSlowRequests, type Taken } from './slow.ts'
import { look, takeOne, type Search } from './slots.ts'

/** A permit that is asked for. */
export interface PermitRequest {
  readonly key: LockKey
  /** What a lease of the same key is called. */
  readonly name: string
  /** @default 'permit' */
  readonly kind?: PermitKind
  readonly options: SemaphoreOptions & PermitOptions
}

const nouns = { permit: 'permit of semaphore', shared: 'shared lock' } as const

/** Waits for a permit as asked, and holds it as a lease. */
export async function takePermit(
  leases: Leases,
  request: PermitRequest,
): Promise<Lease & Pick<Taken, 'slot'>> {
  const { key, name, kind = 'permit', options } = request
  const { permits, ...leaseOptions } = options
  const names = permitNames(name, kind)
  let slot = -1
  const waitFor: WaitForGrant = async (shop, asked) => {
    const isPatient = asked.wait !== 'nowait'
    const timeoutMs = typeof asked.wait === 'object' ? asked.wait.timeoutMs : undefined
    const deadline = deadlineIn(isPatient ? timeoutMs : nowaitAnswerMs)
    const lane = `${shop.id} permits ${names.door}`
    const onAnswer = (answered: number): void => shop.bell.ring(names.slot(answered))
    const taken = await grantOf({
      lane,
      slow: createSlowRequests({ shop, lane, ttlMs: asked.ttlMs, onAnswer }),
      shop,
      asked,
      leases,
      names,
      permits: () => checkPermits(permits),
      kind,
      table: shop.table,
      deadline,
      repeatUntil: isPatient ? deadline : deadlineIn(nowaitRepeatMs),
      mayRepeat: isPatient,
    })
    slot = taken.slot
    return taken.grant
  }
  const lease = await leases.take({ key, name, noun: nouns[kind], options: leaseOptions }, waitFor)
  return Object.assign(lease, { slot })
}

/** Whatever ends the wait, nothing stays granted that nobody knows of. */
async function grantOf(search: Search): Promise<Taken> {
  const { shop, asked, slow } = search
  asked.signal?.throwIfAborted()
  const taken = await (asked.wait === 'nowait' ? takeNow(search) : takeInTurn(search)).finally(slow.end)
  if (asked.signal?.aborted !== true) return taken
  void forget(shop.port, { ...taken.grant.held, ttlMs: asked.ttlMs })
  throw asked.signal.reason
}

/** How often somebody who does not wait looks again, because others took what it saw free. */
const maxLooks = 5

async function takeNow(search: Search): Promise<Taken> {
  const { shop, asked, deadline } = search
  const refused = refusedOf(asked, modeOf(search))
  const refusal = (because: string, cause?: unknown): Error =>
    notAvailable(askedOn(shop.port, { ...refused, because }), cause)
  try {
    if (search.kind === 'shared') return await enterNow(search, refusal)
    await letPass(search)
    for (let looks = 1; looks <= maxLooks; looks += 1) {
      if (isAnybodyWaiting(search.lane)) throw refusal('others wait for one')
      const seen = await look(search)
      if (seen.isDoorTaken) throw refusal('others wait for one')
      const taken = await takeOne(search, seen)
      if (taken !== undefined) return taken
      if (seen.free.length === 0 || deadline.isPast()) break
    }
  } catch (error) {
    if (asked.signal?.aborted === true || error instanceof NoConnectionError) throw error
    const isSilent = error instanceof LockTimeoutError || deadline.isPast()
    throw isSilent || error instanceof RetryableTransactionError
      ? refusal('the database is busy', error)
      : error
  }
  const unsure = search.slow.unsure()
  const isBusy = unsure !== undefined || search.slow.isAnyAsked()
  throw refusal(isBusy ? 'the database is busy' : allTaken(search), unsure)
}

/**
 * Whoever of this process has asked before gets an answer before: a look of one's own might be the faster one. Ends as well
 * when one of them turns out to wait, however long that takes. Rejects when they take too long to find out.
 */
async function letPass({ lane, asked, repeatUntil }: Search): Promise<void> {
  if (isAnybodyWaiting(lane) || lengthOfLine(lane) === 0) return
  const stop = new AbortController()
  const turn = takeTurn(lane, { deadline: repeatUntil, signal: asked.signal })
  // the turn is not kept: those behind have their looks at the same time, as if this one were not there
  const passed = turn.then((endTurn) => endTurn())
  await Promise.race([passed, untilAnybodyWaits(lane, stop.signal)]).finally(() => stop.abort())
}

/** Others who enter leave the door in a moment; who does not is its exclusive holder, or waits to be. */
async function enterNow(
  search: Search,
  refusal: (because: string, cause?: unknown) => Error,
): Promise<Taken> {
  try {
    return await takeAtDoor({ ...search, deadline: deadlineIn(nowaitRepeatMs) })
  } catch (error) {
    if (error instanceof LockNotAvailableError) throw refusal(`all ${search.permits()} places are taken`)
    const silence = [error, (error as Error | undefined)?.cause].find((one) => one instanceof NoAnswerError)
    if (silence !== undefined) throw refusal('the server does not answer', error)
    throw error instanceof LockTimeoutError
      ? refusal('another has it alone or waits for that, or too many come in')
      : error
  }
}

function modeOf({ kind }: Search): LockMode {
  return kind === 'shared' ? 'shared' : 'exclusive'
}

/** Those of one process have their turn in the order of asking, and only the first of them asks the server. */
async function takeInTurn(search: Search): Promise<Taken> {
  const { shop, asked, deadline, lane } = search
  const refused: Asked = refusedOf(asked, modeOf(search))
  let endTurn: (() => void) | undefined
  try {
    // they stand in one line with those who want it alone: that of the door
    if (search.kind === 'shared') return await takeAtDoor(search)
    endTurn = await takeTurn(lane, { deadline, signal: asked.signal })
    const seen = await look(search)
    // whoever comes to a free permit while others wait for one stands behind them
    const found = seen.isDoorTaken ? undefined : await takeOne(search, seen)
    return found ?? (await takeAtDoor(search))
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
