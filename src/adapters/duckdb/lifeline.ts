import { LockUsageError } from '../../core/errors.ts'
import type { Session, Witness } from '../../core/session.ts'
import { Blame } from './blame.ts'
import { Running } from './running.ts'
import { viewOf, type Guard } from './view.ts'

/** What can be ended: a connection of DuckDB's. */
export interface Endable {
  interrupt(): void
  disconnectSync(): void
}

/**
 * A connection of which everything that runs is known, so that its transaction, and it itself, can be ended.
 *
 * DuckDB runs what is sent at the same time in any order, so a COMMIT would overtake the work's own statements, and
 * those would then be stored one by one. Disconnecting under a running statement can freeze the process for good (seen
 * on 1.5.6), also when the statement was prepared before and starts just then.
 */
export interface Lifeline<Connection> {
  /** The connection for the caller's work. */
  readonly tx: Connection
  /** A transaction has begun: its work may make calls. */
  readonly enter: () => void
  readonly untilIdle: NonNullable<Session['untilIdle']>
  /** Takes no more calls of the work, and waits for those that run. Gives the first error since the work has returned. */
  readonly settle: () => Promise<unknown>
  /** Takes no more calls of the work, and interrupts those that run. */
  readonly halt: () => Promise<void>
  readonly witness: Witness
  /** The error that has ended the transaction. */
  readonly failure: () => unknown
  /** Makes a call of Holdfast's own, unless the connection is to end. */
  readonly use: <T>(call: () => Promise<T>) => Promise<T>
  /** Takes no more calls, interrupts those that run, and disconnects once they are over. */
  readonly end: () => Promise<void>
}

export function lifeline<Connection extends Endable>(connection: Connection): Lifeline<Connection> {
  const running = new Running()
  const guilty = new Blame()
  let isOpen = false
  const guard = guardOf({ running, guilty, isOpen: () => isOpen })
  const returned = (): void => {
    guilty.hasReturned = true
    running.own()
  }
  const leave = (): void => {
    isOpen = false
    returned()
  }
  return {
    tx: viewOf(connection, guard),
    enter: () => {
      guilty.forget()
      isOpen = true
    },
    untilIdle: () => {
      returned()
      return running.size === 0 ? undefined : running.untilNone()
    },
    settle: () => {
      leave()
      return running.untilNone().then(() => guilty.late)
    },
    halt: () => {
      leave()
      return running.interruptAll(connection)
    },
    witness: guilty,
    failure: () => guilty.error,
    ...ownCalls(connection, { running, guilty, leave }),
  }
}

interface Own {
  readonly running: Running
  readonly guilty: Blame
  readonly leave: () => void
}

function ownCalls(
  connection: Endable,
  { running, guilty, leave }: Own,
): Pick<Lifeline<unknown>, 'use' | 'end'> {
  const others = (): Promise<unknown> => running.settled()
  let isEnding = false
  return {
    use: async (call) => {
      if (isEnding) throw ended()
      return running.add(call(), (error) => guilty.explain(error, others))
    },
    end: async () => {
      if (isEnding) return
      isEnding = true
      leave()
      await running.interruptAll(connection)
      connection.disconnectSync() // rolls back what is open
    },
  }
}

interface State {
  readonly running: Running
  readonly guilty: Blame
  readonly isOpen: () => boolean
}

function guardOf({ running, guilty, isOpen }: State): Guard {
  return {
    track: (result) => running.add(result, (error) => guilty.explainToWork(error, () => running.settled())),
    note: (error) => guilty.note(error),
    mayCall: () => {
      if (!isOpen()) throw ended()
    },
    mayDisconnect: () => {
      if (running.size === 0) return
      throw new LockUsageError('tx', 'a statement still runs on it: await that before you disconnect')
    },
  }
}

function ended(): LockUsageError {
  return new LockUsageError('tx', 'the transaction has ended')
}
