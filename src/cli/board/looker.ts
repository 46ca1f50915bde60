import { setTimeout as pause } from 'node:timers/promises'

import { createHistory, pointOf, type History } from './history.ts'
import type { Look, News } from './look.ts'

/** Time, as a watch sees it. Tests bring their own. */
export interface LookClock {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Rejects when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** Milliseconds since 1970. */
  readonly date: () => number
}

const ownClock: LookClock = {
  now: () => performance.now(),
  pause: (ms, signal) => pause(ms, undefined, { signal }),
  date: () => Date.now(),
}

export interface LookerOptions {
  readonly look: (signal: AbortSignal) => Promise<Look>
  /** The least time between the beginnings of two looks. @default 1000 */
  readonly everyMs?: number
  /** How long an answer is waited for. @default 5000 */
  readonly limitMs?: number
  readonly clock?: LookClock
}

/** How many of the newest points each message repeats: a page that is slow misses messages. */
const repeated = 10

/** Looks at a database, once at a time and never too often, and knows what came of it. */
export interface Looker {
  /** Rejects only at the end of the board: what has failed is in the news. */
  readonly look: () => Promise<void>
  /** Waits until the server may be asked again. */
  readonly rest: () => Promise<void>
  readonly hasLooked: () => boolean
  readonly news: () => News
  readonly history: History
}

export function createLooker(
  { look, everyMs = 1000, limitMs = 5000, clock = ownClock }: LookerOptions,
  end: AbortSignal,
): Looker {
  const history = createHistory()
  let latest: { readonly look: Look; readonly at: number } | undefined
  let failure: { readonly message: string; readonly since: number } | undefined
  let nextAt = -Infinity
  return {
    history,
    rest: async () => {
      const restMs = nextAt - clock.now()
      if (restMs > 0) await clock.pause(restMs, end)
    },
    hasLooked: () => latest !== undefined || failure !== undefined,
    news: () => ({
      ...(latest && { look: latest.look, ageMs: Math.round(clock.now() - latest.at) }),
      ...(failure && {
        failure: { message: failure.message, forMs: Math.round(clock.now() - failure.since) },
      }),
      points: history.all().slice(-repeated),
    }),
    look: async () => {
      const began = clock.now()
      try {
        const seen = await limited(look, { limitMs, clock, end })
        latest = { look: seen, at: clock.now() }
        failure = undefined
        history.add(pointOf(seen, clock.date()))
      } catch (error) {
        failure = { message: (error as Error).message, since: failure?.since ?? began }
      }
      end.throwIfAborted()
      const ended = clock.now()
      const tookMs = ended - began
      // a server that takes long to answer is left alone for as long; one that is gone is looked for without delay
      nextAt = Math.max(began + everyMs, ended + (failure === undefined ? tookMs : Math.min(tookMs, everyMs)))
    },
  }
}

interface Limit {
  readonly limitMs: number
  readonly clock: LookClock
  readonly end: AbortSignal
}

/** A look that gives up when the server says nothing for too long. */
async function limited(look: LookerOptions['look'], { limitMs, clock, end }: Limit): Promise<Look> {
  const [stop, done] = [new AbortController(), new AbortController()]
  // not AbortSignal.any: on some versions of Node what it makes of a signal that lives long is never freed
  const onEnd = (): void => stop.abort(end.reason)
  end.addEventListener('abort', onEnd, { once: true })
  const timer = clock.pause(limitMs, done.signal).then(
    () => stop.abort(new Error(`no answer in ${limitMs / 1000} s`)),
    () => {},
  )
  try {
    end.throwIfAborted()
    return await look(stop.signal)
  } finally {
    end.removeEventListener('abort', onEnd)
    done.abort()
    await timer
  }
}
