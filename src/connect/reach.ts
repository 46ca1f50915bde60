import type { Reach } from './driver.ts'
import { workFailure } from './failure.ts'
import { limits } from './limits.ts'
import { destinationOf, openUrl } from './open.ts'
import { within } from './within.ts'

/** Runs work on one connection to an address, which is closed afterwards. Rejects with `ConnectError`. */
export const reach: Reach = async (url, work) => {
  // the second connection is for ending what the first one runs
  const connected = await openUrl(url, 2)
  try {
    const session = await connected.sessions.open()
    await within(limits.workMs, work(session), () => new Error('it takes too long'))
    await session.release()
  } catch (error) {
    throw workFailure(error, destinationOf(url))
  } finally {
    await connected.close()
  }
}
