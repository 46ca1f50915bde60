/// <reference lib="esnext.disposable" preserve="true" />
import { inWords } from '../core/in-words.ts'
import { LockLostError } from '../core/errors.ts'
import type { Abortable } from './abort.ts'
import { inDueTime } from './in-due-time.ts'

/** How something that is held ends. */
export interface Ending {
  /** As people call it, for warnings. */
  readonly name: string
  /** Gives it up. Called once at most. */
  readonly release: () => Promise<void>
  /** Gives it up without waiting for any answer, when the release does not end in time. */
  readonly abandon: (why: Error) => void
  /** Aborts when it is lost: then nobody needs to release it. */
  readonly signal?: Abortable
  /** @default 5000 */
  readonly releaseWithinMs?: number | undefined
}

/** What a handle adds to what is held. */
export interface Releasable extends AsyncDisposable {
  /**
   * Gives up what is held; a second call does nothing more. Ends in bounded time, whatever became of the connection.
   *
   * Rejects with {@link LockLostError} when it was not held any more.
   */
  release(): Promise<void>
  /** As `release`, for `await using`: what goes wrong is a warning, so that it does not hide the work's own error. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Tells of handles that were dropped. It knows only their names: what it knew strongly would never be dropped. */
const dropped = new FinalizationRegistry<string>((name) => {
  warn(
    `${name} is still held, but its handle was dropped without being released: use "await using", or release it`,
  )
})

/**
 * Makes a handle of `face`: with a release that can be called twice, ends in time, and is missed when nobody calls it.
 *
 * Nothing here refers to it. Whoever makes it must not keep it either: it could then never be told that its last user
 * has dropped it. What is held stays held, since the work may still go on.
 */
export function createHandle<Face extends object>(face: Face, ending: Ending): Face & Releasable {
  const token = {}
  const forget = (): void => void dropped.unregister(token)
  let released: Promise<void> | undefined
  const release = (): Promise<void> => {
    if (released === undefined) {
      forget()
      released = releaseInTime(ending)
      released.catch(() => {}) // told to everybody who asks
    }
    return released
  }
  const dispose = async (): Promise<void> => {
    const isTold = released !== undefined
    await release().catch((error: unknown) => {
      if (!isTold) warn(`${ending.name} could not be released: ${inWords(error)}`)
    })
  }
  const handle: Face & Releasable = Object.assign(face, { release, [Symbol.asyncDispose]: dispose })
  dropped.register(handle, ending.name, token)
  ending.signal?.addEventListener('abort', forget, { once: true })
  return handle
}

async function releaseInTime({ name, release, abandon, releaseWithinMs = 5000 }: Ending): Promise<void> {
  const releasing = release()
  releasing.catch(() => {}) // after the time is over, nobody listens
  await new Promise<void>((resolve, reject) => {
    const stop = inDueTime(releaseWithinMs, () => {
      const why = new LockLostError(
        `${name}: the release was not answered in ${releaseWithinMs} ms, so that it cannot be confirmed`,
      )
      abandon(why)
      reject(why)
    })
    releasing.then(resolve, reject).finally(stop)
  })
}

export function warn(message: string): void {
  process.emitWarning(message, 'HoldfastWarning')
}
