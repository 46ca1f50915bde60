import { clearTimeout, setTimeout } from '../../core/clock.ts'
import type { Sessions } from '../../core/session.ts'

export type Listen = NonNullable<Sessions['listen']>

/** The one listening of all who wait. */
export interface Ear {
  /** Begins to listen, where that can be had. Says whether it has begun just now: what was said before went unheard. */
  readonly open: (topic: string, patienceMs: number) => Promise<boolean>
  /** Whether what is said now is heard. */
  readonly isOpen: () => boolean
  readonly close: () => void
  /** Closes it for good. */
  readonly silence: () => void
}

/**
 * The empty message is the end of the listening: whoever waits looks, and may begin it again. One that cannot be had is
 * not asked for again until it was closed.
 */
export function createEar(listen: Listen | undefined, hear: (message: string) => void): Ear {
  let current: Listening | undefined
  let isSilent = listen === undefined
  const close = (): void => {
    const ending = current?.begun.then((stop) => stop())
    current = undefined
    ending?.catch(() => {}) // what cannot be ended has ended
  }
  const begin = (start: Listen, topic: string): Listening => {
    const heard = (message: string): void => {
      // ended by us too: an empty text can also be somebody's message, while the connection is well
      if (message === '' && current === listening) close()
      hear(message)
    }
    const begun = (async () => start(topic, heard))()
    const listening = { begun, isOpen: false }
    begun.then(
      () => (listening.isOpen = true),
      () => {},
    )
    return listening
  }
  return {
    close,
    isOpen: () => current?.isOpen === true,
    silence: () => {
      isSilent = true
      close()
    },
    open: async (topic, patienceMs) => {
      if (listen === undefined || isSilent || current !== undefined) return false
      current = begin(listen, topic)
      return withinTime(current.begun, patienceMs)
    },
  }
}

/** Begins to listen where the engine has a topic. Says whether it has begun just now. */
export async function listenTo(ear: Ear, topic: string | undefined, patienceMs: number): Promise<boolean> {
  return topic !== undefined && ear.open(topic, patienceMs)
}

interface Listening {
  readonly begun: Promise<() => Promise<void>>
  isOpen: boolean
}

/** Whether it is fulfilled so soon. */
function withinTime(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    const settle = (isFulfilled: boolean): void => {
      clearTimeout(timer)
      resolve(isFulfilled)
    }
    promise.then(
      () => settle(true),
      () => settle(false),
    )
  })
}
