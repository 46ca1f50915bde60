import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import { LockLostError } from '../../core/errors.ts'

/**
 * How long a lease may still be relied on, by the monotonic clock: from before the request that the server confirmed
 * was sent. The wall clock of this machine has no say in it, and neither has the moment at which an answer came.
 *
 * On a machine that is suspended this clock may stand still: only a fence holds against that.
 */
export interface Validity {
  /** Aborts when the lease is lost, with the {@link LockLostError} that says why. Not when it is released. */
  readonly signal: () => AbortSignal
  /** Looks at the clock: right also in a process that was stopped and has just been woken. */
  readonly remainingMs: () => number
  readonly throwIfLost: () => void
  /** The server has confirmed a request of that moment. */
  readonly confirm: (sentAt: number, ttlMs: number) => void
  /** A request leaves that may shorten the lease, and its answer may get lost. */
  readonly expect: (sentAt: number, ttlMs: number) => void
  /** A request may still be done at any time from now on: later ones count for no longer than it. */
  readonly doubt: (ttlMs: number) => void
  /** Why the lease could not be confirmed just now; undefined when it was. */
  readonly note: (error: unknown) => void
  /** The server says that the lease is not ours. */
  readonly lose: () => void
  /** The holder gives the lease up. */
  readonly end: () => void
  readonly isOver: () => boolean
}

/** What is left out of a lease's time, for clocks that run at different speeds and for the holder to stop. */
export function marginMs(ttlMs: number): number {
  return Math.min(1000, ttlMs / 20)
}

/** Of which lease, and who is told, once, that it is over: `isLost` where nobody has released it. */
export interface ValidityOf {
  /** As in `lease "report"`. */
  readonly label: string
  readonly onOver?: ((isLost: boolean) => void) | undefined
}

export function createValidity(of: ValidityOf, sentAt: number, ttlMs: number): Validity {
  const fate = createFate(of)
  let until = endOf(sentAt, ttlMs)
  let trustedMs = Infinity
  const remainingMs = (): number => {
    const leftMs = fate.isOver() ? 0 : until - performance.now()
    if (leftMs > 0) return leftMs
    fate.lose('was not confirmed in time: another holder may have it by now')
    return 0
  }
  const alarm = createAlarm(remainingMs)
  const moveTo = (end: number): void => {
    until = end
    alarm.set()
  }
  alarm.set()
  return {
    signal: fate.signal,
    note: fate.note,
    isOver: fate.isOver,
    remainingMs,
    throwIfLost: () => {
      remainingMs()
      fate.throwIfOver()
    },
    confirm: (at, ms) => {
      if (remainingMs() > 0) moveTo(endOf(at, Math.min(ms, trustedMs)))
    },
    doubt: (ms) => void (trustedMs = Math.min(trustedMs, ms)),
    expect: (at, ms) => moveTo(Math.min(until, endOf(at, ms))),
    lose: () => fate.lose('is no longer ours: it expired, or its row was changed'),
    end: () => {
      alarm.stop()
      fate.end()
    },
  }
}

/** Looks at the clock when the time must be over, and again where the timer came a little early. */
function createAlarm(remainingMs: () => number): { readonly set: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const set = (): void => {
    clearTimeout(timer)
    const leftMs = remainingMs()
    if (leftMs > 0) timer = setTimeout(set, Math.ceil(leftMs)).unref()
  }
  return { set, stop: () => clearTimeout(timer) }
}

/** Whether a lease is over, and why. It is over once. */
interface Fate extends Pick<Validity, 'signal' | 'note' | 'end' | 'isOver'> {
  readonly lose: (why: string) => void
  readonly throwIfOver: () => void
}

function createFate({ label, onOver = () => {} }: ValidityOf): Fate {
  let controller: AbortController | undefined
  let isReleased = false
  let over: LockLostError | undefined
  let lastError: unknown
  const because = (why: string): LockLostError =>
    new LockLostError(`the ${label} ${why}`, lastError === undefined ? {} : { cause: lastError })
  return {
    signal: () => {
      if (controller === undefined) {
        controller = new AbortController()
        if (!isReleased && over !== undefined) controller.abort(over)
      }
      return controller.signal
    },
    note: (error) => {
      lastError = error
    },
    isOver: () => isReleased || over !== undefined,
    throwIfOver: () => {
      if (isReleased) over ??= because('was released')
      if (over !== undefined) throw over
    },
    lose: (why) => {
      if (isReleased || over !== undefined) return
      over = because(why)
      controller?.abort(over)
      onOver(true)
    },
    end: () => {
      if (isReleased || over !== undefined) return
      isReleased = true
      onOver(false)
    },
  }
}

function endOf(sentAt: number, ttlMs: number): number {
  return sentAt + ttlMs - marginMs(ttlMs)
}
