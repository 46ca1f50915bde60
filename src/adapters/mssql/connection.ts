import { LockUsageError } from '../../core/errors.ts'
import type { Witness } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import { watchLoss, type LossEvents, type LossWatch } from '../connection-loss.ts'
import { noteFailure } from '../note-failure.ts'

/** What is used of `mssql`'s `ConnectionPool`. */
export interface MssqlPool<Transaction = MssqlTransaction> {
  readonly connected: boolean
  request(options: { requestTimeout: number }): MssqlRequest
  transaction(): Transaction
}

export interface MssqlRequest {
  stream: boolean
  arrayRowMode: boolean
  input(name: string, value: unknown): unknown
  query(sql: string): Promise<MssqlResult>
  batch(sql: string): Promise<MssqlResult>
}

export interface MssqlResult {
  readonly recordset?: readonly Row[]
}

/** What is used of a `Transaction` of `mssql`. */
export interface MssqlTransaction {
  begin(isolationLevel?: number): Promise<unknown>
  commit(): Promise<void>
  rollback(): Promise<void>
  request(options: { requestTimeout: number }): MssqlRequest
}

/** The two methods by which the driver's own requests and transactions take a connection; its types leave them out. */
interface Lender {
  readonly config: unknown
  acquire(requester: object): Promise<MssqlConnection>
  release(connection: MssqlConnection): unknown
}

/** What is used of a connection of `tedious`. */
interface MssqlConnection extends Partial<LossEvents> {
  close(): void
  reset?(done: (error?: Error | null) => void): void
}

export interface Borrowed<Transaction = MssqlTransaction> {
  /** As the pool it comes from, but all of its requests and transactions run on the one connection. */
  readonly pool: MssqlPool<Transaction>
  readonly connection: MssqlConnection
  readonly lender: Lender
}

type Taken = (error: null, connection: MssqlConnection, config: unknown) => void

/**
 * Takes one connection out of the pool for longer than a request or a transaction would.
 *
 * The driver has no method for that. Its requests and transactions ask the pool that made them for a connection and
 * give it back after use; those made by this view of the pool are always lent the same one.
 */
export async function borrow<Transaction>(pool: MssqlPool<Transaction>): Promise<Borrowed<Transaction>> {
  if (!isLender(pool)) throw new LockUsageError('pool', 'is not a ConnectionPool of mssql')
  const connection = await pool.acquire(pool)
  const view = Object.create(pool, {
    acquire: {
      value: (_requester: object, taken: Taken) => setImmediate(taken, null, connection, pool.config),
    },
    release: { value: () => view },
  }) as MssqlPool<Transaction>
  return { pool: view, connection, lender: pool }
}

/** Ends the loan. A connection that was closed, or cannot be reset, is thrown away by the pool before its next use. */
export async function giveBack(
  { connection, lender }: Pick<Borrowed, 'connection' | 'lender'>,
  state: 'as it is' | 'reset' | 'closed',
): Promise<void> {
  const isClean = state === 'as it is' || (state === 'reset' && (await reset(connection)))
  if (!isClean) connection.close()
  lender.release(connection)
}

/** Whether the connection is as it was when it was opened. */
function reset(connection: MssqlConnection): Promise<boolean> {
  return new Promise((resolve) => {
    if (connection.reset === undefined) resolve(false)
    else connection.reset((error) => resolve(!error))
  })
}

/** Told only by `tedious`. */
export function lossOf({ connection }: Pick<Borrowed, 'connection'>): LossWatch | undefined {
  return tellsLoss(connection) ? watchLoss(connection) : undefined
}

/** Where `tedious` tells of every error of the server, whoever has sent the statement. */
interface ServerErrors {
  on(event: 'errorMessage', listener: (error: unknown) => void): unknown
  off(event: 'errorMessage', listener: (error: unknown) => void): unknown
}

/** Keeps the errors of the server until it is stopped. Told only by `tedious`. */
export function witnessOf({
  connection,
}: Pick<Borrowed, 'connection'>): { readonly witness: Witness; readonly stop: () => void } | undefined {
  if (!tellsLoss(connection)) return undefined
  const events = connection as unknown as ServerErrors
  const failures: unknown[] = []
  const note = (error: unknown): void => noteFailure(failures, error)
  events.on('errorMessage', note)
  return { witness: { failures }, stop: () => void events.off('errorMessage', note) }
}

function tellsLoss(connection: Partial<LossEvents>): connection is LossEvents {
  return connection.on !== undefined && connection.off !== undefined
}

function isLender<Pool extends object>(pool: Pool): pool is Pool & Lender {
  return (
    'acquire' in pool &&
    typeof pool.acquire === 'function' &&
    'release' in pool &&
    typeof pool.release === 'function'
  )
}
