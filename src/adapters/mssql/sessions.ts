import { LockUsageError } from '../../core/errors.ts'
import { oneOf } from '../../core/check-field.ts'
import type { Isolation } from '../../core/request.ts'
import type { Session, Sessions, TransactionStart } from '../../core/session.ts'
import type { Row, SqlStatement, Value } from '../../core/statement.ts'
import {
  borrow,
  giveBack,
  lossOf,
  witnessOf,
  type Borrowed,
  type MssqlPool,
  type MssqlRequest,
  type MssqlTransaction,
} from './connection.ts'
import { mustHave } from '../must-have.ts'
import { sqlOnly } from '../statement-kind.ts'
import { firstFailure, nothingToCommit } from '../transaction-end.ts'
import { sendInTurn, undoneOnError, withoutMode, withoutReadOnly } from '../transaction-start.ts'

export type { MssqlPool, MssqlTransaction } from './connection.ts'

/** How SQL Server is spoken to. */
export interface MssqlSessionOptions {
  /**
   * After how long the driver gives a statement up. Its own default of 15 s would cut a longer wait for a lock, whose
   * end is decided by the wait's own limit.
   *
   * @default 0, which is never
   */
  readonly requestTimeoutMs?: number
}

/** `ISOLATION_LEVEL` of the driver, which are the numbers of the protocol. */
export const isolationLevels: Readonly<Record<Isolation, number>> = {
  'read uncommitted': 1,
  'read committed': 2,
  'repeatable read': 3,
  serializable: 4,
  snapshot: 5,
}

/** Sessions on the connections of a connected `mssql` pool. The caller's work receives the driver's `Transaction`. */
export function sessions<Transaction extends MssqlTransaction>(
  pool: MssqlPool<Transaction>,
  options: MssqlSessionOptions = {},
): Sessions<Transaction> {
  mustHave(pool, {
    field: 'pool',
    from: 'mssql',
    methods: ['transaction', 'request'],
    pass: 'a connected pool, as in createLocks(await new mssql.ConnectionPool(config).connect())',
  })
  const { requestTimeoutMs = 0 } = options
  return { adapter: 'mssql', source: pool, open: async () => sessionOf(await borrow(pool), requestTimeoutMs) }
}

function sessionOf<Transaction extends MssqlTransaction>(
  borrowed: Borrowed<Transaction>,
  requestTimeout: number,
): Session<Transaction> {
  const failure = firstFailure()
  let latest = borrowed.pool.transaction()
  let isOpen = false
  let hasChangedLevel = false
  const run = (statement: SqlStatement): Promise<readonly Row[]> =>
    send((isOpen ? latest : borrowed.pool).request({ requestTimeout }), statement)
  const rollback = async (): Promise<void> => {
    if (isOpen) await latest.rollback().catch(unlessAborted)
    isOpen = false
  }
  return {
    get tx() {
      return latest
    },
    run: (statement) => failure.watch(async () => run(sqlOnly(statement))),
    begin: async (start = {}) => {
      const level = levelOf(start)
      failure.forget()
      hasChangedLevel ||= level !== undefined
      latest = borrowed.pool.transaction()
      await latest.begin(level)
      isOpen = true
      return undoneOnError(async () => (await sendInTurn(start.head ?? [], run)) ?? [], rollback)
    },
    commit: async () => {
      if (!isOpen) throw new LockUsageError('transaction', 'none has begun')
      await latest.commit().catch((error: unknown) => {
        throw isAborted(error) ? nothingToCommit(failure.error ?? error) : error
      })
      isOpen = false
    },
    rollback,
    ...endsOf(borrowed, () => hasChangedLevel),
  }
}

function endsOf(
  borrowed: Borrowed<unknown>,
  hasChangedLevel: () => boolean,
): Pick<Session, 'release' | 'destroy' | 'onLost' | 'witness'> {
  const loss = lossOf(borrowed)
  const seen = witnessOf(borrowed)
  return {
    release: () => {
      loss?.stop()
      seen?.stop()
      // A level outlasts its transaction, and would be that of whoever uses the connection next.
      return giveBack(borrowed, hasChangedLevel() ? 'reset' : 'as it is')
    },
    destroy: () => giveBack(borrowed, 'closed'),
    ...(loss && { onLost: loss.onLost }),
    ...(seen && { witness: seen.witness }),
  }
}

async function send(request: MssqlRequest, { sql, params }: SqlStatement): Promise<readonly Row[]> {
  request.stream = false
  request.arrayRowMode = false
  for (const [index, value] of params.entries()) request.input(`p${index + 1}`, toMssql(value))
  // `query` wraps the text in sp_executesql, and a SET ends with the procedure that it stands in.
  // https://learn.microsoft.com/sql/t-sql/statements/set-statements-transact-sql
  const { recordset } = await (params.length === 0 ? request.batch(sql) : request.query(sql))
  return recordset ?? []
}

function levelOf(start: TransactionStart): number | undefined {
  withoutMode(start)
  withoutReadOnly(start)
  const { isolation } = start
  return (
    isolation && isolationLevels[oneOf('isolation', isolation, Object.keys(isolationLevels) as Isolation[])]
  )
}

/**
 * The driver chooses the types: text is NVARCHAR, and a Date is DATETIME, which rounds to 3 ms. `sql.map.register`
 * makes it choose others.
 */
function toMssql(value: Value): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}

/** Where the server has rolled back already, as after a deadlock, there is nothing left to do. */
function unlessAborted(error: unknown): void {
  if (!isAborted(error)) throw error
}

function isAborted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EABORT'
}
