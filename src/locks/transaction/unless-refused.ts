import { setImmediate as nextRound } from 'node:timers/promises'

/**
 * What `work` gives, under a beginning that travels with its first statement. When that fails, its failure is the
 * reason, whatever the work has made of it: the database has run none of the work's statements.
 */
export async function unlessRefused<T>(
  begun: Promise<unknown>,
  work: () => Promise<T>,
  untilIdle: () => Promise<void> | undefined,
): Promise<T> {
  try {
    const result = await work()
    // now, because what the work has left under way may be answered together with the beginning
    const idle = untilIdle()
    if (idle !== undefined) await idle
    await begun
    return result
  } catch (error) {
    // The work hears of it in the same round. What is not known by then is not why it has failed.
    const refusal = begun.then(
      () => undefined,
      (reason: unknown) => ({ reason }),
    )
    const refused = await Promise.race([refusal, nextRound()])
    throw refused === undefined ? error : refused.reason
  }
}
