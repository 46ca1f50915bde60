import { clearTimeout, setTimeout } from '../core/clock.ts'
import { LockTimeoutError } from '../core/errors.ts'

/**
 * How long a listener may take to begin. A server that is silent would keep its connection open, and the process alive,
 * long after the last who waited; without a listener one looks from time to time.
 */
const listenWithinMs = 10_000

/** What a beginning gives. When it fails or takes too long, `end` is called, and what it gives later is not heard of. */
export async function beginListening<T>(beginning: Promise<T>, end: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new LockTimeoutError(`no answer to who listens within ${listenWithinMs} ms`)),
      listenWithinMs,
    )
  })
  try {
    return await Promise.race([beginning, limit])
  } catch (error) {
    end()
    throw error
  } finally {
    clearTimeout(timer)
  }
}
