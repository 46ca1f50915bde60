import { setTimeout as pause } from 'node:timers/promises'

/** What is used of a pool, whichever driver it is of. */
interface Pool {
  getConnection(): Promise<{ query(text: string): Promise<unknown>; release(): unknown }>
}

/** How long it is waited for: the pool may have no connection to spare. */
const patienceMs = 3000

/**
 * Ends a connection that the client has closed: while a statement waits for a lock, the server does not notice that its
 * client has gone.
 *
 * `KILL` is answered before the thread has woken up, and until then the server may still give it the lock. So it is
 * asked until the server knows no such thread, which is after it has given back all that the thread held.
 */
export async function endThread(pool: Pool, threadId: number): Promise<void> {
  const end = new AbortController()
  const tooLong = pause(patienceMs, undefined, { ref: false, signal: end.signal }).catch(() => {})
  await Promise.race([killUntilGone(pool, threadId, end.signal), tooLong]).finally(() => end.abort())
}

/**
 * At least once, also when nobody waits for it any more: the pool may have had no connection until then. No error where
 * the thread has ended meanwhile, or where the server is gone.
 */
async function killUntilGone(pool: Pool, threadId: number, over: AbortSignal): Promise<void> {
  try {
    const other = await pool.getConnection()
    try {
      for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 50)) {
        await other.query(`KILL ${threadId}`)
        await pause(pauseMs, undefined, { signal: over })
      }
    } finally {
      other.release()
    }
  } catch {
    // there is no such thread any more, or nobody waits for it
  }
}
