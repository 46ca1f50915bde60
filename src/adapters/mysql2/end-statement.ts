import { setTimeout as pause } from 'node:timers/promises'

/** What is used of a pool, whichever driver it is of. */
interface Pool {
  getConnection(): Promise<{ query(text: string): Promise<unknown>; release(): unknown }>
}

/** How long a connection for it is waited for, when the pool has none to spare. */
const patienceMs = 3000

/**
 * Ends what runs on a connection that the client has closed: while a statement waits for a row, the server does not
 * notice that its client has gone.
 */
export async function endStatement(pool: Pool, threadId: number): Promise<void> {
  await Promise.race([killQuery(pool, threadId), pause(patienceMs, undefined, { ref: false })])
}

/** No error where it has ended meanwhile, or where the server is gone. */
async function killQuery(pool: Pool, threadId: number): Promise<void> {
  try {
    const other = await pool.getConnection()
    await other.query(`KILL QUERY ${threadId}`).finally(() => other.release())
  } catch {
    // nothing runs there any more
  }
}
