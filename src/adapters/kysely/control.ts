import { LockUsageError } from '../../core/errors.ts'
import { UnsentCommit, type Session } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import type { WatchedConnection } from './body.ts'
import type { KyselyConnection } from './connection.ts'
import { succeeds } from '../succeeds.ts'
import type { DriverTraits } from '../traits.ts'
import type { Manner } from '../transaction-body.ts'
import { sendInTurn, undoneOnError } from '../transaction-start.ts'

/** How a transaction is begun and ended on a connection of Kysely's. */
export type TransactionControl = Pick<Session, 'begin' | 'commit' | 'rollback' | 'stored' | 'untilIdle'>

type Send = (text: string, manner: Manner) => Promise<readonly Row[]>

export interface ControlParts {
  /** Behind whatever still runs on the connection. */
  readonly send: Send
  /** At once: for whoever is alone with the connection. */
  readonly sendFirst: Send
  /** Waits for all that was given to Kysely before. */
  readonly settle: () => Promise<void>
  readonly watched: WatchedConnection
  readonly driver: DriverTraits
}

/**
 * By statements of our own where statements can: Kysely has no word for IMMEDIATE, and none that brings a lock timeout
 * along. Otherwise by the methods of the connection.
 */
export function transactionControl(connection: KyselyConnection, parts: ControlParts): TransactionControl {
  const { begin, commit, rollback } =
    connection.beginTransaction === undefined ? byStatements(connection, parts) : byMethods(connection, parts)
  const { body, cutStreams, running } = parts.watched
  return {
    stored: () => body.stored,
    untilIdle: () => {
      body.returned()
      return running.untilNone()
    },
    begin: async (start) => {
      const rows = await begin(start)
      body.begin(start?.by !== undefined)
      return rows
    },
    commit: async () => {
      body.close()
      await cutStreams()
      if (parts.watched.hasCut()) throw leftOpen()
      await parts.settle()
      const rest = running.untilNone()
      if (rest !== undefined) await rest
      await commit()
      body.over()
    },
    rollback: async () => {
      body.giveUp()
      await cutStreams()
      await lookForStored(parts)
      await rollback()
      body.over()
    },
  }
}

async function lookForStored({ watched: { body, ask, hasCut }, settle }: ControlParts): Promise<void> {
  if (!body.asksBeforeRollback) return
  if (!hasCut()) await settle()
  await ask()
}

function leftOpen(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'the work has returned while a stream was open: nothing is stored. Read it to its end, or leave its loop',
  )
}

function byStatements(
  connection: KyselyConnection,
  { send, sendFirst, driver }: ControlParts,
): TransactionControl {
  let beginning: Promise<readonly Row[] | undefined> | undefined
  return {
    begin: async (start = {}) => {
      const texts = driver.begin(start, connection) ?? []
      const begin = (): Promise<readonly Row[] | undefined> =>
        sendInTurn(texts, (text) => sendFirst(text, 'free'))
      beginning = undoneOnError(begin, () => send('ROLLBACK', 'free'))
      return (await beginning) ?? []
    },
    commit: async () => {
      try {
        await send('COMMIT', 'commit')
      } catch (error) {
        throw driver.isUnsent?.(error) === true ? new UnsentCommit(error) : error
      }
    },
    rollback: async () => {
      // Kysely lines up what is sent through it, and the beginning was not: whoever gives up may be in its middle.
      await beginning?.catch(() => {})
      await send('ROLLBACK', 'free').catch(async (error: unknown) => {
        // SQLite may have rolled back by itself, and refuses to do it again. It never refuses within a savepoint.
        const again = send('SAVEPOINT holdfast', 'free').then(() => send('ROLLBACK', 'free'))
        if (!(await succeeds(again))) throw error
      })
    },
  }
}

/** A driver such as tedious wraps each statement in a procedure, in which a BEGIN cannot stay open. */
function byMethods(
  connection: KyselyConnection,
  { send, watched: { body }, driver }: ControlParts,
): TransactionControl {
  let hasBegun = false
  return {
    begin: async (start = {}) => {
      driver.begin(start)
      await connection.beginTransaction?.({})
      hasBegun = true
      return []
    },
    commit: async () => {
      // as every statement of the work is, to be answered before this is decided
      if (body.asksBefore('commit')) await send('SELECT 1', 'commit')
      if (body.end !== undefined) throw body.end
      hasBegun = false
      await connection.commitTransaction?.()
    },
    rollback: async () => {
      if (!hasBegun) return
      hasBegun = false
      await connection.rollbackTransaction?.().catch(async (refusal: unknown) => {
        // After a deadlock the server has rolled back by itself, and refuses to do it again.
        const [row] = await send('SELECT @@TRANCOUNT AS held', 'free')
        if (row?.held !== 0) throw refusal
      })
    },
  }
}
