import type { Isolation } from '../../core/request.ts'
import type { Session } from '../../core/session.ts'
import type { OpenTransaction, Server } from '../port.ts'

/** The isolation level of a transaction that asks for none; undefined where no lock depends on it. */
export type DefaultIsolation = (
  server: Server,
  session: Session,
) => Isolation | undefined | Promise<Isolation | undefined>

/** Asks for it once, and knows it then without any waiting. */
export function createDefaultIsolation(): DefaultIsolation {
  let known: Isolation | undefined
  return ({ dialect }, session) => {
    const how = dialect.named.defaultIsolation
    if (how === undefined || known !== undefined) return known
    return session.run(how.ask).then(([row]) => (known ??= how.read(row)))
  }
}

/** The level of a transaction that is under way, which nobody may have stated. */
export async function isolationOf(open: OpenTransaction<unknown>): Promise<Isolation | undefined> {
  const how = open.dialect.named.defaultIsolation
  if (open.isolation === undefined && how !== undefined) {
    const [row] = await open.session.run(how.inside ?? how.ask)
    open.isolation = how.read(row)
  }
  return open.isolation
}
