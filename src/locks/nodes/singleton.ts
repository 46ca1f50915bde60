import { dateMs, performance } from '../../core/clock.ts'
import { checkPeriod, checkSignal, checkWork, onlyKnown } from '../../core/check-field.ts'
import { pause } from '../../core/deadline.ts'
import { LockError, LockNotAvailableError, LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import { inWords, readable } from '../../core/in-words.ts'
import type { LockKey } from '../../core/key.ts'
import { warn } from '../handle.ts'
import { NoAnswerError } from '../limit.ts'
import { textOfKey } from '../refused.ts'
import type { LeaseOptions } from '../lease/options.ts'
import type { Lease } from '../lease/lease.ts'
import { tell } from '../tell.ts'
import { nextDueOf, type NextDue, type Schedule } from './schedule.ts'

/** A job that is due some time after it last was. */
export interface Periodic {
  /** The time from the start of one run to the start of the next, by the server's clock, whoever runs it. */
  readonly everyMs: number
}

type Never<T> = { readonly [Key in keyof T]?: never }

/** How a job runs that every node starts and one of them does: after a period, or at a time of day. */
export type SingletonOptions = SingletonTerms & ((Periodic & Never<Schedule>) | (Schedule & Never<Periodic>))

export interface SingletonTerms {
  /** How long another node waits for one that died in the middle of a run. @default 30_000 */
  readonly ttlMs?: number
  /** Ends it; a run that is under way is waited for, and told by its own signal. */
  readonly signal?: AbortSignal
  /**
   * Told what a run threw, and what went wrong between runs; the next one comes in its time. What it throws or rejects
   * with itself is a warning.
   *
   * @default a warning
   */
  readonly onError?: (error: unknown) => unknown
}

/** One run of the job, on this node. */
export interface SingletonRun {
  /** Fences the writes of the run: `locks.fenced(run.lease, work)`. */
  readonly lease: Lease
  /** Aborts when the run is to stop: because it was told to, or because another node may run the job by now. */
  readonly signal: AbortSignal
  /** When it was due, where the job has a time of day. */
  readonly due?: Date
}

/** Work that only one node runs at a time. */
export type SingletonWork = (run: SingletonRun) => Promise<unknown>

export type TakeLease = (key: LockKey, options: LeaseOptions) => Promise<Lease>

/**
 * Runs a job again and again on one of the nodes that call this. Resolves when the signal has aborted.
 *
 * A node that dies in a run is replaced when its lease is over: then the run is repeated, so it must be able to bear
 * that. The lease stays taken until the period is over, so that a node whose clock or turn is early finds it busy.
 */
export async function runSingleton(
  takeLease: TakeLease,
  { name, work }: { readonly name: LockKey; readonly work: SingletonWork },
  options: SingletonOptions,
): Promise<void> {
  const { when, signal, ttlMs, onError: given = warnOf(name) } = checkSingleton(options)
  const onError = listenerOf(name, given)
  const attempt: Attempt = (holdAtLeastMs, due) => {
    const terms = { wait: 'nowait', holdAtLeastMs, ...(ttlMs !== undefined && { ttlMs }) } as const
    return runOnce(() => takeLease(name, terms), work, { signal, onError, due })
  }
  await (typeof when === 'number' ? runEvery(when, attempt, signal) : runWhenDue(when, attempt, signal))
}

/** Runs the job if nobody else does or has done so. Says whether this node had its turn. */
type Attempt = (holdAtLeastMs: number, due?: Date) => Promise<boolean>

async function runEvery(everyMs: number, attempt: Attempt, signal: AbortSignal | undefined): Promise<void> {
  while (!isAborted(signal)) {
    const began = performance.now()
    const hasRun = await attempt(everyMs)
    const restMs = hasRun ? everyMs - (performance.now() - began) : lookAgainMs(everyMs)
    await rest(restMs, signal)
  }
}

/**
 * The lease stays taken for half of the time to the next run, and a node asks for it for a quarter of it: by then it has
 * replaced one that died, and none whose clock is wrong by less than that runs the job again.
 */
async function runWhenDue(
  nextDue: NextDue,
  attempt: Attempt,
  signal: AbortSignal | undefined,
): Promise<void> {
  let due = nextDue(dateMs())
  for (;;) {
    // bit by bit: a machine may sleep, and its clock may be set
    while (!isAborted(signal) && dateMs() < due) await rest(Math.min(60_000, due - dateMs()), signal)
    if (isAborted(signal)) return
    const gapMs = nextDue(due) - due
    while (!isAborted(signal) && dateMs() < due + gapMs / 4) {
      if (await attempt(Math.ceil(gapMs / 2), new Date(due))) break
      await rest(lookAgainMs(gapMs), signal)
    }
    due = nextDue(Math.max(due, dateMs()))
  }
}

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return pause(Math.max(1, ms), undefined, signal).catch(() => {})
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

interface RunTerms {
  readonly signal: AbortSignal | undefined
  readonly onError: (error: unknown) => void
  readonly due: Date | undefined
}

/** Says whether this node had its turn, whatever became of the run. */
async function runOnce(
  take: () => Promise<Lease>,
  work: SingletonWork,
  { signal, onError, due }: RunTerms,
): Promise<boolean> {
  let lease: Lease
  try {
    lease = await take()
  } catch (error) {
    const isRefused = error instanceof LockNotAvailableError || error instanceof LockTimeoutError
    // a server that says nothing does not say that another node has it
    const isBusy = isRefused && !(error.cause instanceof NoAnswerError)
    // a mistake in the call would only be repeated for ever
    if (error instanceof LockError && !isRefused) throw error
    if (!isBusy) onError(error)
    return false
  }
  const stop = signal === undefined ? lease.signal : AbortSignal.any([signal, lease.signal])
  try {
    await work({ lease, signal: stop, ...(due && { due }) })
  } catch (error) {
    onError(readable(error))
  } finally {
    await lease[Symbol.asyncDispose]()
  }
  return true
}

/** Often enough to be on time, rarely enough for many nodes, and never all of them at once. */
function lookAgainMs(everyMs: number): number {
  const ms = Math.min(10_000, Math.max(50, everyMs / 20))
  return ms * (0.5 + Math.random() / 2)
}

interface Checked extends SingletonTerms {
  /** The period, or what tells the times. */
  readonly when: number | NextDue
}

function checkSingleton(options: SingletonOptions): Checked {
  onlyKnown(options, ['everyMs', 'at', 'timeZone', 'days', 'ttlMs', 'signal', 'onError'])
  const { everyMs, at, timeZone, days, ...terms } = options
  checkSignal(terms.signal)
  if (terms.onError !== undefined) checkWork(terms.onError, 'onError', '(error) => { ... }')
  if (at === undefined) {
    if (timeZone !== undefined || days !== undefined)
      throw new LockUsageError('at', 'is missing: a time of day')
    return { ...terms, when: checkPeriod('everyMs', everyMs) }
  }
  if (everyMs !== undefined)
    throw new LockUsageError('everyMs', 'is given with `at`: a job has a period or a time')
  return {
    ...terms,
    when: nextDueOf({ at, ...(timeZone !== undefined && { timeZone }), ...(days && { days }) }),
  }
}

function warnOf(name: LockKey): (error: unknown) => void {
  return (error) => warn(`a run of the singleton ${textOfKey(name)} failed: ${inWords(error)}`)
}

/** A listener that fails must not end the job on this node, nor hide what it was to be told of. */
function listenerOf(name: LockKey, onError: (error: unknown) => unknown): (error: unknown) => void {
  return (error) =>
    tell(
      () => onError(error),
      (thrown) => {
        warnOf(name)(error)
        warn(`onError of the singleton ${textOfKey(name)} failed: ${inWords(thrown)}`)
      },
    )
}
