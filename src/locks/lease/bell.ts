import type { Sessions } from '../../core/session.ts'

/** Wakes those who wait for a lease when it is released, as far as anybody hears of it. */
export interface Bell {
  readonly ring: (name: string) => void
  /** Somebody waits for a lease. As long as anybody does, releases are listened for. */
  readonly attend: (name: string) => Attendance
  /** Listens no more, for good: it takes a connection that others need. */
  readonly silence: () => void
}

export interface Attendance {
  /** What was heard until now counts no longer: the lease is asked for next. */
  readonly expect: () => void
  /** Begins to listen, where that can be had. Says whether it has begun just now: a release before went unheard. */
  readonly listen: (topic: string | undefined, patienceMs: number) => Promise<boolean>
  /** Sleeps until the lease was released, at most so long. Rejects with the signal's reason when it aborts. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  readonly leave: () => void
}

type Listen = NonNullable<Sessions['listen']>

export function createBell(listen: Listen | undefined): Bell {
  const waiters = new Map<string, Set<Waiter>>()
  const ring = (name: string): void => {
    for (const waiter of waiters.get(name) ?? []) waiter.hear()
  }
  const ear = createEar(listen, (message) => {
    for (const name of message === '' ? waiters.keys() : [message]) ring(name)
  })
  return {
    ring,
    silence: ear.silence,
    attend: (name) => {
      const waiter = createWaiter()
      const others = waiters.get(name) ?? new Set()
      waiters.set(name, others.add(waiter))
      return {
        expect: waiter.expect,
        sleep: waiter.sleep,
        listen: async (topic, patienceMs) => topic !== undefined && ear.open(topic, patienceMs),
        leave: () => {
          others.delete(waiter)
          if (others.size === 0 && waiters.get(name) === others) waiters.delete(name)
          if (waiters.size === 0) ear.close()
        },
      }
    },
  }
}

interface Ear {
  readonly open: (topic: string, patienceMs: number) => Promise<boolean>
  readonly close: () => void
  readonly silence: () => void
}

/**
 * One listening for all who wait. The empty message is the end of it: whoever waits looks, and may begin it again. One that cannot be had is not asked for again until the last of them is gone. */
function createEar(listen: Listen | undefined, ring: (message: string) => void): Ear {
  let opening: Promise<() => Promise<void>> | undefined
  let isSilent = listen === undefined
  const close = (): void => {
    const ending = opening?.then((stop) => stop())
    opening = undefined
    ending?.catch(() => {}) // what cannot be ended has ended
  }
  return {
    close,
    silence: () => {
      isSilent = true
      close()
    },
    open: async (topic, patienceMs) => {
      if (listen === undefined || isSilent || opening !== undefined) return false
      const begun = (async () =>
        listen(topic, (message) => {
          if (message === '' && opening === begun) opening = undefined
          ring(message)
        }))()
      opening = begun
      return withinTime(begun, patienceMs)
    },
  }
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

interface Waiter extends Pick<Attendance, 'expect' | 'sleep'> {
  readonly hear: () => void
}

function createWaiter(): Waiter {
  let hasHeard = false
  let wake: (() => void) | undefined
  return {
    hear: () => {
      hasHeard = true
      wake?.()
    },
    expect: () => {
      hasHeard = false
    },
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      if (hasHeard) return
      await new Promise<void>((resolve) => {
        const goOn = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', goOn)
          resolve()
        }
        const timer = setTimeout(goOn, ms)
        signal?.addEventListener('abort', goOn, { once: true })
        wake = goOn
      })
      signal?.throwIfAborted()
    },
  }
}
