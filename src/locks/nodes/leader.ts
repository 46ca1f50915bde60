import { inWords } from '../../core/in-words.ts'
import { checkSignal, onlyKnown } from '../../core/check-field.ts'
import { backoffMs } from '../../core/backoff.ts'
import { pause } from '../../core/deadline.ts'
import { LockUsageError, UnsupportedLockError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { warn } from '../handle.ts'
import { textOfKey } from '../refused.ts'
import type { Held } from '../session-lock/hold.ts'

/** What a node does when it becomes the leader, and when it no longer is. */
export interface LeaderOptions<H = Held> {
  /**
   * Told that this node leads, until the lock's signal aborts. When it rejects, the node steps down with a warning and
   * stands again after a pause. When it resolves, the node goes on leading.
   */
  readonly onElected: (held: H) => unknown
  /** Told that this node leads no longer: it was stopped, it has lost the lock, or `onElected` has rejected. What it throws is a warning. */
  readonly onLost?: (why: unknown) => unknown
  /** Ends the leadership, or the wait for it. */
  readonly signal?: AbortSignal
  /** How long another waits for a leader of whom nothing is heard, where the lock is kept as a lease. @default 30_000 */
  readonly ttlMs?: number
}

/** What a leader holds. */
type Led = AsyncDisposable & Pick<Held, 'signal'>

type TakeLead<H> = (
  name: LockKey,
  options: { readonly signal?: AbortSignal; readonly ttlMs?: number },
) => Promise<H>

/** Stands for election, leads, and stands again when the lead is lost. Resolves when the signal has aborted. */
export async function runLeader<H extends Led>(
  acquire: TakeLead<H>,
  name: LockKey,
  options: LeaderOptions<H>,
): Promise<void> {
  const { signal, ttlMs } = checkLeader(options)
  for (let failed = 0; signal?.aborted !== true;) {
    try {
      const held = await acquire(name, { ...(signal && { signal }), ...(ttlMs !== undefined && { ttlMs }) })
      failed = (await term(held, options, textOfKey(name))) ? 0 : failed + 1
    } catch (error) {
      if (isStopped(signal)) return
      if (error instanceof LockUsageError || error instanceof UnsupportedLockError) throw error
      failed += 1
      warn(`the election of ${textOfKey(name)} failed: ${inWords(error)}`)
    }
    // a node that cannot lead would otherwise be elected again and again, since it is the first to know
    if (failed > 0)
      await pause(backoffMs(failed, { baseMs: 100, capMs: 10_000 }), undefined, signal).catch(() => {})
  }
}

/** Leads once. Says whether it ended as it should, and not because the leader's own work failed. */
async function term<H extends Led>(held: H, options: LeaderOptions<H>, name: string): Promise<boolean> {
  try {
    const why = await lead(held, options, name)
    const isDue = isStopped(options.signal) || held.signal.aborted
    // before the lock is given back: the next leader is to find the last one gone
    await (async () => options.onLost?.(why))().catch((error: unknown) =>
      warn(`onLost of the leader ${name} failed: ${inWords(error)}`),
    )
    return isDue
  } finally {
    await held[Symbol.asyncDispose]()
  }
}

/** Resolves with the reason for which the lead has ended. */
async function lead<H extends Led>(
  held: H,
  { onElected, signal }: LeaderOptions<H>,
  name: string,
): Promise<unknown> {
  const over = signal === undefined ? held.signal : AbortSignal.any([signal, held.signal])
  const ended = new Promise<void>((resolve) => {
    if (over.aborted) resolve()
    else over.addEventListener('abort', () => resolve(), { once: true })
  })
  const refusal = await Promise.race([ended, refusalOf(async () => onElected(held))])
  if (refusal === undefined) return over.reason
  warn(`onElected of the leader ${name} failed, so it steps down: ${inWords(refusal.error)}`)
  return refusal.error
}

/** Resolves only when the work rejects. */
function refusalOf(work: () => Promise<unknown>): Promise<{ readonly error: unknown }> {
  return new Promise((resolve) => {
    work().catch((error: unknown) => resolve({ error }))
  })
}

function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

function checkLeader<H>(options: LeaderOptions<H>): LeaderOptions<H> {
  onlyKnown(options, ['onElected', 'onLost', 'signal', 'ttlMs'])
  checkSignal(options.signal)
  if (typeof options.onElected !== 'function') throw new LockUsageError('onElected', 'must be a function')
  return options
}
