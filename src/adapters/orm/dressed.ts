import type { Session, Sessions } from '../../core/session.ts'
import { noteWire, Wire } from './wire.ts'

/** How an ORM is put on top of a driver's connection. */
export interface Dress<Connection, Tx extends object> {
  /** Must send nothing. What the work sends later goes through the wire. */
  readonly on: (connection: Connection, wire: Wire) => Promise<Tx> | Tx
  /** The session is at its end. Must send nothing. */
  readonly off?: (tx: Tx) => void
}

/**
 * Sessions whose work is given an ORM's own transaction object instead of the driver's connection.
 *
 * The driver's session stays what it is: it begins, commits, rolls back and releases. The dress puts the ORM on top of
 * the view that the driver's session gives to work, so whatever the ORM sends is watched and refused as if it had been
 * sent by hand.
 */
export function dressed<Connection, Tx extends object>(
  sessions: Sessions<Connection>,
  dress: Dress<Connection, Tx>,
): Sessions<Tx> {
  return { ...sessions, open: async () => dressedSession(await sessions.open(), dress) }
}

async function dressedSession<Connection, Tx extends object>(
  session: Session<Connection>,
  dress: Dress<Connection, Tx>,
): Promise<Session<Tx>> {
  const wire = new Wire()
  const tx = await onTop(session, () => dress.on(session.tx, wire))
  noteWire(tx, wire)
  const { off } = dress
  const own: Pick<Session<Tx>, 'tx' | 'run' | 'untilIdle'> = {
    tx,
    run: (statement) => wire.follow(() => session.run(statement)),
    // the driver is told first: what fails from now on, nobody waits for
    untilIdle: () => wire.traffic.untilStill(session.untilIdle),
  }
  if (off === undefined) return { ...session, ...own }
  return {
    ...session,
    ...own,
    release: () => {
      off(tx)
      return session.release()
    },
    destroy: (why) => {
      off(tx)
      return session.destroy(why)
    },
  }
}

async function onTop<Tx>(session: Session, dress: () => Promise<Tx> | Tx): Promise<Tx> {
  try {
    return await dress()
  } catch (error) {
    await session.release()
    throw error
  }
}
