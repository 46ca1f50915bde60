import type { Session, Sessions } from '../../core/session.ts'
import { noteWire, Wire } from './wire.ts'

/** How an ORM is put on top of a driver's connection. */
export interface Dress<Connection, Tx extends object> {
  /** Must send nothing. What the work sends later goes through the wire. */
  readonly on: (connection: Connection, wire: Wire) => Promise<Tx> | Tx
  /** The session is at its end, and its last transaction is stored or not. Must send nothing. */
  readonly off?: (tx: Tx, isStored: boolean) => void
  /** Sends what the work has left for its end, when nothing of it is under way any more. */
  readonly finish?: (tx: Tx) => Promise<void>
  /** Calls the work where the ORM finds the transaction without being told. */
  readonly around?: <T>(tx: Tx, work: () => Promise<T>) => Promise<T>
  /** What the work wants done when its transaction is stored. Undefined where that is nothing. */
  readonly stored?: (tx: Tx) => Promise<void> | undefined
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
  const { off, around, stored, finish } = dress
  const own: Pick<Session<Tx>, 'tx' | 'run' | 'untilIdle' | 'around' | 'whenStored'> = {
    tx,
    run: (statement) => wire.follow(() => session.run(statement)),
    untilIdle: async () => {
      await wire.untilStill(session.untilIdle)
      if (finish === undefined) return
      await finish(tx)
      await wire.untilStill(session.untilIdle)
    },
    ...(around && { around: (work) => around(tx, work) }),
    ...(stored && { whenStored: () => stored(tx) }),
  }
  if (off === undefined) return { ...session, ...own }
  let isStored = false
  return {
    ...session,
    ...own,
    commit: async () => {
      await session.commit()
      isStored = true
    },
    release: () => {
      off(tx, isStored)
      return session.release()
    },
    destroy: (why) => {
      off(tx, isStored)
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
