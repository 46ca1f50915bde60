import { LockTimeoutError } from '../../src/core/errors.ts'
import { inEnoughTime } from '../engines/enough-time.ts'

/**
 * What is to end by itself soon, granted for the shortest time in which the server answers. One that needs more than that
 * for the answer cannot grant it, and is right to refuse.
 */
export async function briefly<Granted>(grant: (ttlMs: number) => Promise<Granted>): Promise<Granted> {
  const { granted } = await inEnoughTime([300, 3000, 30_000], async (ttlMs) => {
    try {
      return { granted: await grant(ttlMs) }
    } catch (error) {
      if (error instanceof LockTimeoutError) return undefined
      throw error
    }
  })
  return granted
}
