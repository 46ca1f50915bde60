/** What is used of a `Database` to send statements. */
export interface PreparingDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
}

/** What is used of a prepared statement of `better-sqlite3`. */
export interface SqliteStatement {
  readonly reader: boolean
  all(...params: unknown[]): unknown[]
  run(...params: unknown[]): unknown
}

type Prepare = (sql: string) => SqliteStatement

const preparers = new WeakMap<PreparingDatabase, Prepare>()
/** SQLite compiles a pragma anew each time that its statement is run, so it tells what is set now. */
const readTimeout = 'PRAGMA busy_timeout'
/** Few texts begin and end transactions. Anything else is compiled each time, so nothing piles up. */
const isControl = /^(?:BEGIN \w+|COMMIT|ROLLBACK|PRAGMA busy_timeout)$/

/**
 * SQLite waits for a lock by sleeping on the JavaScript thread, on which the holder could then never finish. Its
 * `busy_timeout` is off for as long as one call takes, so nobody else sees it changed.
 *
 * A kept statement reads it, and `exec` sets it: a microsecond each, where `pragma` takes four.
 */
export function withoutWaiting<T>(database: PreparingDatabase, work: (prepare: Prepare) => T): T {
  const prepare = preparerOf(database)
  const [row] = prepare(readTimeout).all() as [{ readonly timeout: number | bigint }]
  const saved = Number(row.timeout)
  if (saved === 0) return work(prepare)
  database.exec('PRAGMA busy_timeout = 0')
  try {
    return work(prepare)
  } finally {
    database.exec(`PRAGMA busy_timeout = ${saved}`)
  }
}

function preparerOf(database: PreparingDatabase): Prepare {
  const made = preparers.get(database)
  if (made !== undefined) return made
  const kept = new Map<string, SqliteStatement>()
  const prepare: Prepare = (sql) => {
    const known = kept.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    if (isControl.test(sql)) kept.set(sql, statement)
    return statement
  }
  preparers.set(database, prepare)
  return prepare
}
