import type { Session, Sessions } from '../../core/session.ts'
import { untilQuiet } from '../quiet.ts'

/** How an ORM is put on top of a driver's connection. */
export interface Dress<Connection, Tx> {
  /** Must send nothing. */
  readonly on: (connection: Connection) => Promise<Tx> | Tx
  /** Waits for what the work has started and not awaited, which COMMIT must not come in between of. */
  readonly untilIdle: (tx: Tx) => Promise<void>
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
export function dressed<Connection, Tx>(
  sessions: Sessions<Connection>,
  dress: Dress<Connection, Tx>,
): Sessions<Tx> {
  return { ...sessions, open: async () => dressedSession(await sessions.open(), dress) }
}

async function dressedSession<Connection, Tx>(
  session: Session<Connection>,
  dress: Dress<Connection, Tx>,
): Promise<Session<Tx>> {
  const tx = await onTop(session, dress)
  const commit = (): Promise<void> => dress.untilIdle(tx).then(() => session.commit())
  const { off } = dress
  const own = { tx, commit, untilIdle: () => untilIdle(session) }
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

async function onTop<Connection, Tx>(
  session: Session<Connection>,
  dress: Dress<Connection, Tx>,
): Promise<Tx> {
  try {
    return await dress.on(session.tx)
  } catch (error) {
    await session.release()
    throw error
  }
}

/** An ORM sends a statement some steps after it was asked for it. */
async function untilIdle({ untilIdle: ofDriver }: Session): Promise<void> {
  await ofDriver?.()
  await untilQuiet()
  await ofDriver?.()
}
