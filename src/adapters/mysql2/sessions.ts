import { setTimeout as pause } from 'node:timers/promises'

import { LockUsageError } from '../../core/errors.ts'
import {
  released,
  UnsentCommit,
  type Session,
  type Sessions,
  type TransactionStart,
} from '../../core/session.ts'
import type { Row, SqlStatement, Value } from '../../core/statement.ts'
import { watchLoss, type LossEvents } from '../connection-loss.ts'
import { mustHave } from '../must-have.ts'
import type { CoreConnection } from './command.ts'
import { lineOf, type Line } from './line.ts'
import { checkAutocommit, withoutAutocommit } from './server-status.ts'
import { transactionView } from './view.ts'
import { fateWords } from './words.ts'
import { fateBy } from '../statement-fate.ts'
import { sqlOnly } from '../statement-kind.ts'
import type { DriverTraits } from '../traits.ts'
import { hasEnded, mannerOf } from '../transaction-body.ts'
import {
  accessWords,
  headTexts,
  isolationWords,
  sendInTurn,
  undoneOnError,
  withoutMode,
} from '../transaction-start.ts'

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
const killPatienceMs = 3000

/**
 * Sessions on the connections of a `mysql2/promise` pool, to MySQL or MariaDB. The caller's work receives the pool's
 * own connection.
 */
export function sessions<Connection extends Mysql2Connection>(
  pool: Mysql2Pool<Connection>,
): Sessions<Connection> {
  mustBePool(pool)
  return { open: async () => sessionOf(await pool.getConnection(), pool) }
}

function mustBePool(pool: object): void {
  mustHave(pool, {
    field: 'pool',
    methods: ['getConnection'],
    pass: 'a pool of mysql2/promise, as in createLocks(createPool({ uri }))',
  })
  if ('promise' in pool)
    throw new LockUsageError('pool', 'answers by callbacks: pass pool.promise(), or a pool of mysql2/promise')
}

function sessionOf<Connection extends Mysql2Connection>(
  own: Connection,
  pool: Mysql2Pool,
): Session<Connection> {
  const line = lineOf(coreOf(own))
  const loss = watchLoss(own)
  let isLent = true
  const giveBack = (): void => {
    isLent = false
    line.giveBack()
  }
  line.lend()
  return {
    tx: transactionView(own, () => isLent),
    ...statementsOn(line, () => isLent),
    untilIdle: () => line.untilIdle(),
    release: () => {
      loss.stop()
      giveBack()
      own.release()
      return released
    },
    destroy: async (why) => {
      own.destroy()
      line.cancel(why)
      giveBack()
      // While a statement waits for a row, the server does not notice that its client has gone.
      await Promise.race([killQuery(pool, own.threadId), pause(killPatienceMs, undefined, { ref: false })])
    },
    onLost: loss.onLost,
    whyLost: loss.whyLost,
    witness: line.body,
  }
}

type Statements = Pick<Session, 'run' | 'begin' | 'commit' | 'rollback' | 'stored'>

function statementsOn(line: Line, isLent: () => boolean): Statements {
  const { body } = line
  const undo = async (): Promise<void> => {
    body.giveUp()
    line.drop(hasEnded())
    if (body.asksBeforeRollback) await line.ask()
    await line.send('ROLLBACK', 'free')
    body.over()
  }
  return {
    run: async (statement) => {
      if (!isLent()) throw hasEnded()
      return runOn(line, sqlOnly(statement))
    },
    begin: async (start = {}) => {
      const [texts, head] = [beginTexts(start), headTexts(start)]
      const begin = async (): Promise<unknown> => {
        checkAutocommit(await sendInTurn(texts, (text) => line.send(text, 'free')))
        line.begin()
        return sendInTurn(head, (text) => line.send(reading(text, []), 'free'))
      }
      return rowsOf(await undoneOnError(begin, undo))
    },
    commit: async () => {
      body.close()
      // behind all that the work has started: a deadlock leaves a connection on which every COMMIT succeeds
      try {
        await line.send('COMMIT', 'commit')
      } catch (error) {
        throw isUnsent(error) ? new UnsentCommit(error) : error
      }
      body.over()
    },
    rollback: undo,
    stored: () => body.stored,
  }
}

async function runOn(line: Line, statement: SqlStatement): Promise<readonly Row[]> {
  const { sql, params } = statement
  const manner = mannerOf(statement)
  // A SELECT stores nothing, so the look whether there is a transaction may come after it: one that is repeated while
  // others hold the rows is not looked after each time.
  const answer = await line.send(reading(sql, params), manner)
  if (manner === 'read' && line.body.isInDoubt) await line.confirm()
  checkAutocommit(answer)
  return rowsOf(answer)
}

/**
 * A statement whose answer has rows: how they are read depends on nothing that the pool was told. One without rows is
 * given as its text: what the driver does with an object takes longer than to send it.
 *
 * For `query` and not `execute`: not every statement can be prepared (START TRANSACTION), numbers would be sent as
 * DOUBLE, which SET refuses, and the first use of a statement would cost one more round trip.
 */
function reading(sql: string, params: readonly Value[]): Mysql2Query {
  // a whole number that JavaScript cannot hold comes as text
  const query: Mysql2Query = { sql, rowsAsArray: false, supportBigNumbers: true }
  if (params.length > 0) query.values = params.map(toMysql)
  return query
}

/**
 * The connection beneath the one of promises, for each of which `mysql2` notes the stack of whoever sends. That takes
 * longer than all else that it does.
 */
function coreOf({ connection }: Mysql2Connection): CoreConnection {
  const core: Partial<CoreConnection> = connection ?? {}
  if (typeof core.addCommand === 'function') return core as CoreConnection
  throw new LockUsageError('pool', 'is not a pool of mysql2/promise')
}

function rowsOf(answer: unknown): readonly Row[] {
  return Array.isArray(answer) ? (answer as readonly Row[]) : []
}

/** Ends what runs on a connection. No error where it has ended meanwhile, or where the server is gone. */
async function killQuery(pool: Mysql2Pool, threadId: number): Promise<void> {
  try {
    const other = await pool.getConnection()
    await other.query(reading(`KILL QUERY ${threadId}`, [])).finally(() => other.release())
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

/** The driver's words, without a code (3.24), for what it has not sent. */
function isUnsent(error: unknown): boolean {
  return (
    error instanceof Error && error.message === "Can't add new command when connection is in closed state"
  )
}

/** For libraries that send their statements through `mysql2`. */
export const traits: DriverTraits = {
  isUnsent,
  begin: (start) => [...beginTexts(start), ...headTexts(start)],
  body: { fateOf: fateBy(fateWords), isEndedByErrors: true },
  isInTransaction,
  check: async (send) => {
    const [row] = await send('SELECT @@SESSION.autocommit AS isOn')
    if (Number(row?.isOn) !== 1) throw withoutAutocommit()
  },
  toDriver: toMysql,
  cleanUp: [{ sql: 'KILL CONNECTION_ID()', params: [] }],
}
