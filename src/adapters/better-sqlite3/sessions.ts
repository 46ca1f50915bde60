import { oneOf } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Session, Sessions, TransactionStart, Witness } from '../../core/session.ts'
import type { Row, Value } from '../../core/statement.ts'
import { eachNew } from './each-new.ts'
import { laneOf } from './lane.ts'
import { isLibsql, noLibsql } from './libsql.ts'
import { SqliteTransaction } from './transaction.ts'
import { viewOf } from './view.ts'
import { fateOf } from './words.ts'
import { withoutWaiting, type PreparingDatabase } from './waiting.ts'
import { libraryOf } from '../libraries.ts'
import { mustHave, notWanted, type Wanted } from '../must-have.ts'
import { sqlOnly } from '../statement-kind.ts'
import { succeeds } from '../succeeds.ts'
import type { DriverTraits } from '../traits.ts'
import { headTexts, undoneOnError, withinSerializable, withoutReadOnly } from '../transaction-start.ts'
import { turnOn } from '../turn.ts'

/** What is used of `better-sqlite3`'s `Database`. */
export interface SqliteDatabase extends PreparingDatabase {
  readonly inTransaction: boolean
  readonly open?: boolean
  /** Whether the database has no file: then each handle is another database. */
  readonly memory?: boolean
  pragma(source: string): unknown
  close(): unknown
}

/**
 * Sessions on an SQLite database. The caller's work receives a view of the handle that is its transaction's alone.
 *
 * A function opens a handle for each session, which is closed with it: sessions then only meet in the file's own lock.
 * A handle is shared: a session waits until the one before it is released, in the order of asking. What the
 * application itself runs on that handle meanwhile becomes part of the session's transaction, so prefer the function.
 */
export function sessions<Database extends SqliteDatabase>(
  source: Database | (() => Database),
): Sessions<Database> {
  if (typeof source === 'function') {
    mustOpen(source)
    const open = eachNew(() => handleIn(source()))
    return { adapter, open: () => openOwn(open), lane: laneOf(open) }
  }
  mustHave(source, wanted)
  if (isLibsql(source)) throw noLibsql()
  return { adapter, open: () => openShared(source), lane: laneOf(source), isOneConnection: true }
}

const adapter = 'better-sqlite3'

const wanted = {
  field: 'source',
  from: 'better-sqlite3',
  methods: ['prepare', 'pragma'],
  pass: 'a function that opens the database, as in createLocks(() => new Database(file)), or one handle',
}

/** The class itself would open an empty database each time, in which everybody is alone. */
export function mustOpen(
  source: () => unknown,
  { pass, from }: Required<Pick<Wanted, 'pass' | 'from'>> = wanted,
): void {
  const { prototype } = source as unknown as { readonly prototype?: object }
  if (prototype !== undefined && 'prepare' in prototype)
    throw new LockUsageError('source', `is the class ${source.name}: pass ${pass}`)
  if (libraryOf(source) !== undefined) throw notWanted(source, { field: 'source', pass, from })
}

/** What a function has opened. */
export function handleIn<Handle extends object>(given: Handle): Handle {
  if (typeof (given as { readonly prepare?: unknown } | undefined)?.prepare === 'function') return given
  throw notWanted(given, { field: 'what source() gives', pass: 'a function that gives a handle' })
}

async function openOwn<Database extends SqliteDatabase>(open: () => Database): Promise<Session<Database>> {
  const database = open()
  if (isLibsql(database)) {
    database.close()
    throw noLibsql()
  }
  const statements = statementsOn(database)
  const close = async (): Promise<void> => {
    statements.end()
    database.close() // rolls back what is open
  }
  return sessionOf(statements, close, close)
}

async function openShared<Database extends SqliteDatabase>(database: Database): Promise<Session<Database>> {
  const endTurn = await turnOn(database)
  if (database.inTransaction) {
    endTurn()
    throw new LockUsageError('database', 'has a transaction open that Holdfast did not begin')
  }
  const statements = statementsOn(database)
  const release = async (): Promise<void> => {
    statements.end()
    endTurn()
  }
  const destroy = async (): Promise<void> => {
    try {
      // A handle without a transaction holds nothing, so it need not be closed under the application that owns it.
      await statements.rollback().finally(() => void (database.inTransaction && database.close()))
    } finally {
      await release()
    }
  }
  return sessionOf(statements, release, destroy)
}

interface Statements<Database> extends Pick<
  Session<Database>,
  'tx' | 'run' | 'begin' | 'commit' | 'rollback'
> {
  readonly untilIdle: NonNullable<Session['untilIdle']>
  readonly witness: Witness
  /** The session is given back. */
  readonly end: () => void
}

/** Field by field: one is made for each transaction, and to copy an object takes longer than to make it. */
function sessionOf<Database>(
  { tx, run, begin, commit, rollback, untilIdle, witness }: Statements<Database>,
  release: Session['release'],
  destroy: Session['destroy'],
): Session<Database> {
  return { tx, run, begin, commit, rollback, untilIdle, witness, release, destroy }
}

function statementsOn<Database extends SqliteDatabase>(database: Database): Statements<Database> {
  const transaction = new SqliteTransaction(database)
  const send = (sql: string, params: readonly Value[] = []): readonly Row[] =>
    withoutWaiting(database, (prepareControl) => {
      // what Holdfast sends for every transaction is compiled once for a handle; values make a statement its own
      const statement = params.length === 0 ? prepareControl(sql) : database.prepare(sql)
      const values = params.map(toSqlite)
      if (statement.reader) return statement.all(...values) as readonly Row[]
      statement.run(...values)
      return []
    })
  const rollback = async (): Promise<void> => {
    transaction.leave()
    // some errors make SQLite roll back by itself, and then a ROLLBACK is one more error
    if (database.inTransaction) send('ROLLBACK')
  }
  return {
    tx: viewOf(database, transaction),
    run: async (statement) => {
      const { sql, params } = sqlOnly(statement)
      return transaction.call(() => transaction.statement(sql, params, () => send(sql, params)))
    },
    begin: async (start = {}) => {
      const head = headTexts(start)
      send(beginText(start))
      transaction.begin()
      if (head.length === 0) return []
      return undoneOnError(async () => head.map((text) => send(text)).at(-1) ?? [], rollback)
    },
    commit: async () => {
      transaction.leave()
      transaction.mustBeThere()
      send('COMMIT')
    },
    rollback,
    untilIdle: () => transaction.untilIdle(),
    witness: transaction,
    end: () => transaction.end(),
  }
}

function beginText(start: TransactionStart): string {
  withinSerializable(start)
  withoutReadOnly(start)
  return `BEGIN ${oneOf('mode', start.mode ?? 'DEFERRED', ['DEFERRED', 'IMMEDIATE', 'EXCLUSIVE'])}`
}

/** The driver binds no booleans and no dates, and every number as a REAL, which is another text than the integer. */
function toSqlite(value: Value): string | number | bigint | null | Uint8Array {
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}

/** For libraries that send their statements through `better-sqlite3`. */
export const traits: DriverTraits = {
  begin: (start) => [beginText(start), ...headTexts(start)],
  body: { fateOf, isEndedByErrors: true },
  // only inside of a transaction it is refused; one that it begins is empty, and is rolled back as the former would be
  isInTransaction: async (send) => !(await succeeds(send('BEGIN'))),
  toDriver: toSqlite,
  setting: {
    read: { sql: 'SELECT timeout AS saved FROM pragma_busy_timeout', params: [] },
    apply: { sql: 'PRAGMA busy_timeout = 0', params: [] },
    restore: { sql: 'PRAGMA busy_timeout = {saved}', params: [] },
  },
  cleanUp: [],
}
