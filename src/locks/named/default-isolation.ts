import type { Isolation } from '../../core/request.ts'
import type { Session } from '../../core/session.ts'
import type { Server } from '../port.ts'

/** Asks, once, for the isolation level of transactions that ask for none, where the right lock depends on it. */
export function createDefaultIsolation(): (
  server: Server,
  session: Session,
) => Promise<Isolation | undefined> {
  let known: Isolation | undefined
  return async ({ dialect }, session) => {
    const how = dialect.named.defaultIsolation
    if (how === undefined) return undefined
    known ??= how.read((await session.run(how.ask))[0])
    return known
  }
}
