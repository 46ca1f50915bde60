import type { Session, Sessions, TransactionStart } from '../../core/session.ts'
import type { Row, SqlStatement, Value } from '../../core/statement.ts'
import { lifeline, type Lifeline } from './lifeline.ts'
import { mustHave } from '../must-have.ts'
import { sqlOnly } from '../statement-kind.ts'
import { floatingFailure, nothingToCommit } from '../transaction-end.ts'
import {
  accessWords,
  headTexts,
  sendInTurn,
  undoneOnError,
  withinSnapshot,
  withoutMode,
} from '../transaction-start.ts'

/** What is used of `@duckdb/node-api`'s `DuckDBInstance`. Take it from `fromCache`: two instances of one file know nothing of each other. */
export interface DuckdbInstance<Connection = DuckdbConnection> {
  connect(): Promise<Connection>
}

/** What is used of a `DuckDBConnection`. */
export interface DuckdbConnection {
  runAndReadAll(sql: string): Promise<DuckdbResult>
  prepare(sql: string): Promise<DuckdbStatement>
  interrupt(): void
  disconnectSync(): void
}

/** What is used of a prepared statement of DuckDB. */
export interface DuckdbStatement {
  bindValue(index: number, value: string | number | bigint | boolean | null): void
  bindBigInt(index: number, value: bigint): void
  bindBlob(index: number, value: Uint8Array): void
  runAndReadAll(): Promise<DuckdbResult>
  destroySync(): void
}

/** What is used of a result of DuckDB. */
export interface DuckdbResult {
  readonly returnType: number
  getRowObjectsJS(): readonly Row[]
}

/** `DUCKDB_RESULT_TYPE_QUERY_RESULT` of DuckDB's C interface. */
const ROWS = 3

/** Sessions on a DuckDB database that this process has open; each has a connection of its own, which the work receives. */
export function sessions<Connection extends DuckdbConnection>(
  instance: DuckdbInstance<Connection>,
): Sessions<Connection> {
  mustHave(instance, {
    field: 'instance',
    from: 'duckdb',
    methods: ['connect'],
    pass: 'an instance, as in createLocks(await DuckDBInstance.fromCache(file))',
  })
  return { adapter: 'duckdb', open: async () => sessionOf(await instance.connect()) }
}

function sessionOf<Connection extends DuckdbConnection>(connection: Connection): Session<Connection> {
  let hasBegun = false
  const { tx, use, end, enter, untilIdle, settle, halt, failure, witness } = lifeline(connection)
  const send = (sql: string, params: readonly Value[] = []): Promise<readonly Row[]> =>
    query(connection, { sql, params }, use)
  const rollback = async (): Promise<void> => {
    await halt()
    if (hasBegun) await send('ROLLBACK') // an error where there is no transaction
    hasBegun = false
  }
  return {
    tx,
    run: async (statement) => {
      const { sql, params } = sqlOnly(statement)
      return send(sql, params)
    },
    begin: async (start = {}) => {
      const [begin, head] = [beginText(start), headTexts(start)]
      await send(begin)
      hasBegun = true
      enter()
      return undoneOnError(async () => (await sendInTurn(head, (text) => send(text))) ?? [], rollback)
    },
    commit: async () => {
      const floating = await settle()
      if (floating !== undefined) throw floatingFailure(failure() ?? floating)
      // COMMIT of an aborted transaction reports success and stores nothing; any other statement is refused in it.
      const refusal = await refusalOf(send('SELECT 1'))
      if (refusal !== undefined) throw nothingToCommit(failure() ?? refusal)
      hasBegun = false // a COMMIT that fails has rolled back
      await send('COMMIT')
    },
    rollback,
    untilIdle,
    witness,
    release: end,
    destroy: end,
  }
}

async function query(
  connection: DuckdbConnection,
  { sql, params }: SqlStatement,
  use: Lifeline<unknown>['use'],
): Promise<readonly Row[]> {
  if (params.length === 0) return rowsOf(await use(() => connection.runAndReadAll(sql)))
  const statement = await use(() => connection.prepare(sql))
  try {
    for (const [index, value] of params.entries()) bind(statement, index + 1, value)
    return rowsOf(await use(() => statement.runAndReadAll()))
  } finally {
    statement.destroySync()
  }
}

/** A changing statement answers with a row that counts, where others have none. */
function rowsOf(result: DuckdbResult): readonly Row[] {
  return result.returnType === ROWS ? result.getRowObjectsJS() : []
}

function bind(statement: DuckdbStatement, index: number, value: Value): void {
  if (value instanceof Uint8Array) statement.bindBlob(index, value)
  // as text, since a date of the driver's own would be read in the session's time zone
  else if (value instanceof Date) statement.bindValue(index, value.toISOString())
  // the driver takes every bigint for a HUGEINT, for which no index on a BIGINT is used
  else if (typeof value === 'bigint' && value === BigInt.asIntN(64, value)) statement.bindBigInt(index, value)
  else statement.bindValue(index, value)
}

function beginText(start: TransactionStart): string {
  withoutMode(start)
  withinSnapshot(start)
  return ['BEGIN TRANSACTION', ...accessWords(start)].join(' ')
}

function refusalOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => undefined,
    (error: unknown) => error,
  )
}
