import { checkDuration, onlyKnown } from '../../core/check-field.ts'
import { pause } from '../../core/deadline.ts'
import { LockError, LockNotAvailableError, LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { warn } from '../handle.ts'
import type { LeaseOptions } from '../lease/options.ts'
import type { Lease } from '../lease/lease.ts'

/** How a job runs that every node starts and one of them does. */
export interface SingletonOptions {
  /** The time from the start of one run to the start of the next, by the server's clock, whoever runs it. */
  readonly everyMs: number
  /** How long another node waits for one that died in the middle of a run. @default 30_000 */
  readonly ttlMs?: number
  /** Ends it; a run that is under way is waited for, and told by its own signal. */
  readonly signal?: AbortSignal
  /** Told what a run threw, and what went wrong between runs; the next one comes in its time. @default a warning */
  readonly onError?: (error: unknown) => void
}

/** One run of the job, on this node. */
export interface SingletonRun {
  /** Fences the writes of the run: `locks.fenced(run.lease, work)`. */
  readonly lease: Lease
  /** Aborts when the run is to stop: because it was told to, or because another node may run the job by now. */
  readonly signal: AbortSignal
}

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
  const { everyMs, signal, ttlMs, onError = warnOf(name) } = checkSingleton(options)
  const terms: LeaseOptions = {
    wait: 'nowait',
    holdAtLeastMs: everyMs,
    ...(ttlMs !== undefined && { ttlMs }),
  }
  while (signal?.aborted !== true) {
    const began = performance.now()
    const hasRun = await runOnce(() => takeLease(name, terms), work, { signal, onError })
    const restMs = hasRun ? everyMs - (performance.now() - began) : lookAgainMs(everyMs)
    await pause(Math.max(1, restMs), undefined, signal).catch(() => {})
  }
}

interface RunTerms {
  readonly signal: AbortSignal | undefined
  readonly onError: (error: unknown) => void
}

/** Says whether this node had its turn, whatever became of the run. */
async function runOnce(
  take: () => Promise<Lease>,
  work: SingletonWork,
  { signal, onError }: RunTerms,
): Promise<boolean> {
  let lease: Lease
  try {
    lease = await take()
  } catch (error) {
    const isBusy = error instanceof LockNotAvailableError || error instanceof LockTimeoutError
    // a mistake in the call would only be repeated for ever
    if (error instanceof LockError && !isBusy) throw error
    if (!isBusy) onError(error)
    return false
  }
  const stop = signal === undefined ? lease.signal : AbortSignal.any([signal, lease.signal])
  try {
    await work({ lease, signal: stop })
  } catch (error) {
    onError(error)
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

function checkSingleton(options: SingletonOptions): SingletonOptions {
  onlyKnown(options, ['everyMs', 'ttlMs', 'signal', 'onError'])
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal))
    throw new LockUsageError('signal', 'is not an AbortSignal')
  return { ...options, everyMs: checkDuration('everyMs', options.everyMs) }
}

function warnOf(name: LockKey): (error: unknown) => void {
  return (error) => warn(`a run of the singleton ${JSON.stringify(name)} failed: ${String(error)}`)
}
