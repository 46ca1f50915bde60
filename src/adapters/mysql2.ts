import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row, Value } from '../core/statement.ts'
import { cancellable } from './cancellable.ts'
import { sqlOnly } from './statement-kind.ts'
import type { DriverTraits } from './traits.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'
import { accessWords, isolationWords, withoutMode } from './transaction-start.ts'

/** What is used of the pool of `mysql2/promise`. */
export interface Mysql2Pool {
  getConnection(): Promise<Mysql2Connection>
}

export interface Mysql2Connection {
  readonly threadId: number
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

/** Sessions on the connections of a `mysql2/promise` pool, to MySQL or MariaDB. */
export function sessions(pool: Mysql2Pool): Sessions {
  return { open: async () => sessionOf(await pool.getConnection(), pool) }
}

function sessionOf(connection: Mysql2Connection, pool: Mysql2Pool): Session {
  const failure = firstFailure()
  const running = cancellable()
  // `query` and not `execute`: not every statement can be prepared (START TRANSACTION), numbers would be sent as
  // DOUBLE, which SET refuses, and the first use of a statement would cost one more round trip.
  const send = async (sql: string, params: readonly Value[] = []): Promise<unknown> => {
    const values = params.length === 0 ? {} : { values: params.map(toMysql) }
    // a whole number that JavaScript cannot hold comes as text, whatever the pool's own settings are
    const query = connection.query({ sql, ...values, rowsAsArray: false, supportBigNumbers: true })
    const [answer] = await running.add(query)
    return answer
  }
  return {
    run: (statement) =>
      failure.watch(async () => {
        const { sql, params } = sqlOnly(statement)
        const answer = await send(sql, params)
        return Array.isArray(answer) ? (answer as readonly Row[]) : []
      }),
    begin: async (start = {}) => {
      failure.forget()
      for (const text of beginTexts(start)) await send(text)
    },
    commit: async () => {
      // A deadlock ends the transaction and leaves a connection on which every COMMIT succeeds.
      if (failure.error !== undefined && !isInTransaction(await send('DO 0')))
        throw nothingToCommit(failure.error)
      await send('COMMIT')
    },
    rollback: async () => void (await send('ROLLBACK')),
    release: async () => connection.release(),
    destroy: async (why) => {
      connection.destroy()
      // While it waits for a row, the server does not notice that its client has gone.
      if (running.cancel(why)) await killQuery(pool, connection.threadId)
    },
  }
}

/** Ends what runs on a connection. */
async function killQuery(pool: Mysql2Pool, threadId: number): Promise<void> {
  const other = await pool.getConnection()
  try {
    await other.query({ sql: `KILL QUERY ${threadId}`, rowsAsArray: false, supportBigNumbers: true })
  } catch {
    // it has ended meanwhile
  } finally {
    other.release()
  }
}

/** The level is that of the next transaction only; START TRANSACTION itself has no word for it. */
function beginTexts(start: TransactionStart): readonly string[] {
  withoutMode(start)
  const level = isolationWords(start)
  const begin = ['START TRANSACTION', ...accessWords(start)].join(' ')
  return level.length === 0 ? [begin] : [['SET TRANSACTION', ...level].join(' '), begin]
}

/** SERVER_STATUS_IN_TRANS, which comes with the answer to every statement that gives no rows. */
function isInTransaction(answer: unknown): boolean {
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
  begin: (start) => void beginTexts(start),
  toDriver: toMysql,
  cleanUp: [{ sql: 'KILL CONNECTION_ID()', params: [] }],
}
