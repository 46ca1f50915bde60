import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Time as the lock algorithms see it. They take these in the place of Node's own, so that `holdfast/testing` can move time
 * forward: to them that looks as if the process had been suspended, which they have to bear anyway.
 */

/** Who is told of timers, so as to fire them before their time. */
export interface TimerWatch {
  readonly started: (timer: NodeJS.Timeout, fire: () => void, ms: number) => void
  /** It has fired, or nobody wants it any more. */
  readonly ended: (timer: NodeJS.Timeout) => void
}

let aheadMs = 0
let watch: TimerWatch | undefined

/** Timers that are started from now on are told. */
export function watchTimers(by: TimerWatch): void {
  watch = by
}

/** Moves the time of this process forward for all that goes by it. Timers are the business of who watches them. */
export function moveForward(ms: number): void {
  aheadMs += ms
}

/** The time of day, as a server that lives in this process has it: no `Date` that a test has made up changes it. */
export function wallMs(): number {
  return Math.floor(globalThis.performance.timeOrigin + performance.now())
}

/** The time of day, as this machine has it. */
export function dateMs(): number {
  return Date.now() + aheadMs
}

/** The monotonic clock. */
export const performance: { readonly now: () => number } = {
  now: () => globalThis.performance.now() + aheadMs,
}

export function setTimeout<A extends readonly unknown[]>(
  call: (...args: A) => void,
  afterMs: number,
  ...args: A
): NodeJS.Timeout {
  // Node fires at once what is to wait for longer
  const ms = Math.min(afterMs, 2 ** 31 - 1)
  const watching = watch
  if (watching === undefined) return globalThis.setTimeout(call, ms, ...args)
  const timer = globalThis.setTimeout(() => {
    watching.ended(timer)
    call(...args)
  }, ms)
  watching.started(timer, () => call(...args), ms)
  return timer
}

export function clearTimeout(timer: NodeJS.Timeout | undefined): void {
  globalThis.clearTimeout(timer)
  if (timer !== undefined) watch?.ended(timer)
}

export interface DelayOptions {
  readonly signal?: AbortSignal | undefined
  readonly ref?: boolean
}

/** As the one of `node:timers/promises`. */
export function delay(ms = 1, value?: undefined, options: DelayOptions = {}): Promise<undefined> {
  const { signal, ref } = options
  const known = { ...(signal && { signal }), ...(ref !== undefined && { ref }) }
  return watch === undefined ? sleep(ms, value, known) : watchedDelay(ms, options)
}

function watchedDelay(ms: number, { signal, ref = true }: DelayOptions): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      reject(new DOMException('The operation was aborted', { name: 'AbortError', cause: signal?.reason }))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve(undefined)
    }, ms)
    if (!ref) timer.unref()
    if (signal?.aborted === true) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })
}
