import type { Session, Sessions } from '../../core/session.ts'

/**
 * Sessions whose work is given an ORM's own transaction object instead of the driver's connection.
 *
 * The driver's session stays what it is: it begins, commits, rolls back and releases. `dress` puts the ORM on top of
 * the view that the driver's session gives to work, so whatever the ORM sends is watched and refused as if it had been
 * sent by hand. It must send nothing.
 */
export function dressed<Connection, Tx>(
  sessions: Sessions<Connection>,
  dress: (connection: Connection) => Promise<Tx> | Tx,
): Sessions<Tx> {
  return { ...sessions, open: async () => dressedSession(await sessions.open(), dress) }
}

async function dressedSession<Connection, Tx>(
  session: Session<Connection>,
  dress: (connection: Connection) => Promise<Tx> | Tx,
): Promise<Session<Tx>> {
  try {
    return { ...session, tx: await dress(session.tx) }
  } catch (error) {
    await session.release()
    throw error
  }
}
