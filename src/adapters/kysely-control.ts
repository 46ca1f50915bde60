import type { Session } from '../core/session.ts'
import type { Row, SqlStatement } from '../core/statement.ts'
import type { KyselyConnection } from './kysely-connection.ts'
import type { DriverTraits } from './traits.ts'
import { nothingToCommit, type Failure } from './transaction-end.ts'
import { sendInTurn, undoneOnError } from './transaction-start.ts'

/** How a transaction is begun and ended on a connection of Kysely's. */
export type TransactionControl = Pick<Session, 'begin' | 'commit' | 'rollback'>

type Send = (statement: SqlStatement) => Promise<readonly Row[]>

export interface ControlParts {
  /** Behind whatever still runs on the connection. */
  readonly send: Send
  /** At once: for whoever is alone with the connection. */
  readonly sendFirst: Send
  readonly failure: Failure
  readonly driver: DriverTraits
}

/**
 * By statements of our own where statements can: Kysely has no word for IMMEDIATE, and none that brings a lock timeout
 * along. Otherwise by the methods of the connection.
 */
export function transactionControl(connection: KyselyConnection, parts: ControlParts): TransactionControl {
  return connection.beginTransaction === undefined ? byStatements(parts) : byMethods(connection, parts)
}

function byStatements({ send, sendFirst, failure, driver }: ControlParts): TransactionControl {
  let beginning: Promise<readonly Row[] | undefined> | undefined
  return {
    begin: async (start = {}) => {
      const texts = driver.begin(start) ?? []
      failure.forget()
      const begin = (): Promise<readonly Row[] | undefined> =>
        sendInTurn(texts, (text) => sendFirst(plain(text)))
      beginning = undoneOnError(begin, () => send(plain('ROLLBACK')))
      return (await beginning) ?? []
    },
    commit: async () => {
      const { error } = failure
      const { isInTransaction = hasSavepoints } = driver
      if (error !== undefined && !(await isInTransaction((text) => send(plain(text)))))
        throw nothingToCommit(error)
      await send(plain('COMMIT'))
    },
    rollback: async () => {
      // Kysely lines up what is sent through it, and the beginning was not: whoever gives up may be in its middle.
      await beginning?.catch(() => {})
      await send(plain('ROLLBACK')).catch(async (error: unknown) => {
        // SQLite may have rolled back by itself, and refuses to do it again. It never refuses within a savepoint.
        const again = send(plain('SAVEPOINT holdfast')).then(() => send(plain('ROLLBACK')))
        if (!(await succeeds(again))) throw error
      })
    },
  }
}

/** In a transaction that is still good, this works. */
function hasSavepoints(send: (text: string) => Promise<unknown>): Promise<boolean> {
  return succeeds(send('SAVEPOINT holdfast').then(() => send('RELEASE SAVEPOINT holdfast')))
}

/** A driver such as tedious wraps each statement in a procedure, in which a BEGIN cannot stay open. */
function byMethods(
  connection: KyselyConnection,
  { send, failure, driver }: ControlParts,
): TransactionControl {
  let hasBegun = false
  return {
    begin: async (start = {}) => {
      driver.begin(start)
      failure.forget()
      await connection.beginTransaction?.({})
      hasBegun = true
      return []
    },
    commit: async () => {
      hasBegun = false
      await connection.commitTransaction?.()
    },
    rollback: async () => {
      if (!hasBegun) return
      hasBegun = false
      await connection.rollbackTransaction?.().catch(async (refusal: unknown) => {
        // After a deadlock the server has rolled back by itself, and refuses to do it again.
        const [row] = await send(plain('SELECT @@TRANCOUNT AS open'))
        if (row?.open !== 0) throw refusal
      })
    },
  }
}

export function plain(text: string): SqlStatement {
  return { sql: text, params: [] }
}

export function succeeds(attempt: Promise<unknown>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  )
}
