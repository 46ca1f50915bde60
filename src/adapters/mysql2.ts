import { setTimeout as pause } from 'node:timers/promises'

import { released, type Session, type Sessions, type TransactionStart } from '../core/session.ts'
import type { Row, Value } from '../core/statement.ts'
import { cancellable, type Cancellable, type Start } from './cancellable.ts'
import { watchLoss, type LossEvents } from './connection-loss.ts'
import { watched } from './mysql2-watch.ts'
import { sqlOnly } from './statement-kind.ts'
import type { DriverTraits } from './traits.ts'
import { firstFailure, nothingToCommit, type Failure } from './transaction-end.ts'
import {
  accessWords,
  headTexts,
  isolationWords,
  sendInTurn,
  undoneOnError,
  withoutMode,
} from './transaction-start.ts'

/** What is used of the pool of `mysql2/promise`. */
export interface Mysql2Pool<Connection = Mysql2Connection> {
  getConnection(): Promise<Connection>
}

export interface Mysql2Connection extends LossEvents {
  readonly threadId: number
  readonly connection?: object
  query(options: Mysql2Query): Promise<readonly [unknown, unknown]>
  release(): void
  destroy(): void
}

export interface Mysql2Query {
  sql: string
  values?: unknown[]
  rowsAsArray: boolean
  supportBigNumbers: boolean
}

/** How long a connection for {@link killQuery} is waited for, when the pool has none to spare. */
const killPatienceMs = 5000

/**
 * Sessions on the connections of a `mysql2/promise` pool, to MySQL or MariaDB. The caller's work receives the pool's
 * own connection.
 */
export function sessions<Connection extends Mysql2Connection>(
  pool: Mysql2Pool<Connection>,
): Sessions<Connection> {
  return { open: async () => sessionOf(await pool.getConnection(), pool) }
}

function sessionOf<Connection extends Mysql2Connection>(
  own: Connection,
  pool: Mysql2Pool,
): Session<Connection> {
  const failure = firstFailure()
  const loss = watchLoss(own)
  const running = cancellable(failure.note)
  return {
    tx: watched(own, running.add),
    ...statementsOn(own, running, failure),
    release: () => {
      loss.stop()
      own.release()
      return released
    },
    destroy: async (why) => {
      own.destroy()
      running.cancel(why)
      // While a statement waits for a row, the server does not notice that its client has gone.
      await Promise.race([killQuery(pool, own.threadId), pause(killPatienceMs, undefined, { ref: false })])
    },
    onLost: loss.onLost,
  }
}

type Statements = Pick<Session, 'run' | 'begin' | 'commit' | 'rollback'>

function statementsOn(own: Mysql2Connection, running: Cancellable, failure: Failure): Statements {
  const tell = (text: string): Promise<unknown> => running.start(sending(own, text))
  const ask = (sql: string, params: readonly Value[]): Promise<unknown> =>
    running.start(sending(own, reading(sql, params)))
  const undo = (): Promise<unknown> => tell('ROLLBACK')
  return {
    run: async (statement) => {
      const { sql, params } = sqlOnly(statement)
      return rowsOf(await ask(sql, params))
    },
    begin: async (start = {}) => {
      const [texts, head] = [beginTexts(start), headTexts(start)]
      failure.forget()
      const begin = async (): Promise<unknown> => {
        await sendInTurn(texts, tell)
        return sendInTurn(head, (text) => ask(text, []))
      }
      return rowsOf(await undoneOnError(begin, undo))
    },
    commit: async () => {
      // A deadlock ends the transaction and leaves a connection on which every COMMIT succeeds.
      if (failure.error !== undefined && !saysInTransaction(await tell('DO 0')))
        throw nothingToCommit(failure.error)
      await tell('COMMIT')
    },
    rollback: async () => void (await undo()),
  }
}

/** A statement whose answer has rows: how they are read depends on nothing that the pool was told. */
function reading(sql: string, params: readonly Value[]): Mysql2Query {
  // a whole number that JavaScript cannot hold comes as text
  const query: Mysql2Query = { sql, rowsAsArray: false, supportBigNumbers: true }
  if (params.length > 0) query.values = params.map(toMysql)
  return query
}

/**
 * `query` and not `execute`: not every statement can be prepared (START TRANSACTION), numbers would be sent as DOUBLE,
 * which SET refuses, and the first use of a statement would cost one more round trip.
 *
 * One without rows is given as its text: what the driver does with an object takes longer than to send it.
 */
function sending(connection: Mysql2Connection, query: string | Mysql2Query): Start<unknown> {
  return (resolve, reject) => {
    const core = coreOf(connection)
    if (core !== undefined)
      core.query(query, (error, answer) => (error == null ? resolve(answer) : reject(error)))
    else
      connection
        .query(typeof query === 'string' ? reading(query, []) : query)
        .then(([answer]) => resolve(answer), reject)
  }
}

/** The connection that answers by callback, beneath the one of promises. */
interface CoreConnection {
  query(query: string | Mysql2Query, callback: (error: Error | null, answer?: unknown) => void): unknown
  promise(): unknown
}

/** For each of its promises `mysql2` notes the stack of whoever sends, which takes longer than all else that it does. */
function coreOf({ connection }: Mysql2Connection): CoreConnection | undefined {
  const core: Partial<CoreConnection> = connection ?? {}
  return typeof core.promise === 'function' ? (core as CoreConnection) : undefined
}

function rowsOf(answer: unknown): readonly Row[] {
  return Array.isArray(answer) ? (answer as readonly Row[]) : []
}

/** Ends what runs on a connection. No error where it has ended meanwhile, or where the server is gone. */
async function killQuery(pool: Mysql2Pool, threadId: number): Promise<void> {
  try {
    const other = await pool.getConnection()
    await new Promise(sending(other, `KILL QUERY ${threadId}`)).finally(() => other.release())
  } catch {
    // nothing runs there any more
  }
}

/** The level is that of the next transaction only; START TRANSACTION itself has no word for it. */
function beginTexts(start: TransactionStart): readonly string[] {
  withoutMode(start)
  const level = isolationWords(start)
  const begin = ['START TRANSACTION', ...accessWords(start)].join(' ')
  return level.length === 0 ? [begin] : [['SET TRANSACTION', ...level].join(' '), begin]
}

/**
 * Outside of a transaction there is no savepoint to release. MariaDB 10.5 has one all the same after a deadlock has
 * undone the transaction, but says itself that none is open; for MySQL that is a comment.
 */
async function isInTransaction(send: (text: string) => Promise<readonly Row[]>): Promise<boolean> {
  try {
    await send('SAVEPOINT holdfast')
    await send('RELEASE SAVEPOINT holdfast')
    const [row] = await send('SELECT 1 /*M! AND @@in_transaction */ AS is_open')
    return Number(row?.is_open) === 1
  } catch {
    return false
  }
}

/** SERVER_STATUS_IN_TRANS, which comes with the answer to every statement that gives no rows. */
function saysInTransaction(answer: unknown): boolean {
  const { serverStatus } = answer as { readonly serverStatus: number }
  return (serverStatus & 1) === 1
}

/**
 * Text is quoted here, the rest by the driver. The driver escapes with backslashes: under the server's mode
 * NO_BACKSLASH_ESCAPES, a quote in a value would end the value. This way is right under every mode.
 */
function toMysql(value: Value): unknown {
  if (typeof value !== 'string') return value
  const quoted = value.includes('\\')
    ? `_utf8mb4 0x${Buffer.from(value, 'utf8').toString('hex')}`
    : `'${value.replaceAll("'", "''")}'`
  return { toSqlString: () => quoted }
}

/** For libraries that send their statements through `mysql2`. */
export const traits: DriverTraits = {
  begin: (start) => [...beginTexts(start), ...headTexts(start)],
  isInTransaction,
  toDriver: toMysql,
  cleanUp: [{ sql: 'KILL CONNECTION_ID()', params: [] }],
}
