import type { History } from './history.ts'
import type { News } from './look.ts'
import { createLooker, type LookerOptions } from './looker.ts'

/** Looks at a database as long as somebody is there to see it, however many they are. */
export interface Watch {
  /** The viewer is told after each look, and at once when there was one. The function that it gets ends that. */
  readonly join: (viewer: Viewer) => () => void
  readonly news: () => News
  readonly history: History
  /** Ends a look that is under way, and all that would follow. */
  readonly close: () => Promise<void>
}

export type Viewer = (news: News) => void

export function createWatch(options: LookerOptions): Watch {
  const viewers = new Set<Viewer>()
  const end = new AbortController()
  const looker = createLooker(options, end.signal)
  const { news, history } = looker
  let going: Promise<void> | undefined

  const go = async (): Promise<void> => {
    while (viewers.size > 0) {
      await looker.rest()
      if (viewers.size === 0) return
      await looker.look()
      const now = news()
      for (const viewer of viewers) viewer(now)
    }
  }
  const start = (): void => {
    going ??= go()
      .catch(() => {}) // only the end of the board interrupts it
      .finally(() => {
        going = undefined
        if (viewers.size > 0 && !end.signal.aborted) start()
      })
  }
  return {
    join: (viewer) => {
      viewers.add(viewer)
      if (looker.hasLooked()) viewer(news())
      start()
      return () => void viewers.delete(viewer)
    },
    news,
    history,
    close: async () => {
      viewers.clear()
      end.abort(new Error('the board has ended'))
      await going
    },
  }
}
