import type { Row, Statement, Value } from '../../src/core/statement.ts'
import type { RowRequest, Target, Wait } from '../../src/core/request.ts'
import type { RowQuery } from '../../src/locks/rows/query.ts'
import type { LockedRows } from '../../src/locks/rows/rows.ts'
import type { Locks } from '../../src/locks.ts'

/** What every engine's locks can do. */
export interface PortableLocks<Tx> extends Omit<Locks<Tx>, 'rows' | 'table'> {
  readonly rows: (
    tx: Tx,
    query: RowQuery,
    options?: Pick<RowRequest, 'mode'> & { readonly wait?: Exclude<Wait, 'skip'> },
  ) => Promise<LockedRows<Row>>
}

/** A database as the stories use it. `Tx` is the driver's own transaction: only the driver's file looks inside. */
export interface Shop<Tx = unknown> extends Store<Tx> {
  readonly locks: PortableLocks<Tx>
  /** What the server calls the connection (or session) of this transaction. */
  readonly sessionId: (tx: Tx) => string
  /** The settings of the pool's connection that may not change, read with no transaction open. */
  readonly settings: () => Promise<readonly Row[]>
  /** Gives the settings values of the application's own, so that putting back the server's would be noticed. */
  readonly tune: () => Promise<void>
  /** What the engine's own observer cannot see of the transactions of others. */
  readonly leftovers?: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** Plain reads and writes, by the driver itself. Without a transaction they run by themselves. */
export interface Store<Tx = unknown> {
  readonly find: (tx: Tx | undefined, target: Target) => Promise<readonly Row[]>
  readonly all: (table: string) => Promise<readonly Row[]>
  readonly change: (tx: Tx | undefined, target: Target, values: Values) => Promise<void>
  readonly add: (tx: Tx | undefined, table: string, row: Values) => Promise<void>
  /** Makes an empty table whose first column is the key; a name that ends in `code` makes a text, others a number. */
  readonly create: (table: string, columns: readonly string[]) => Promise<void>
  /** Drops a table if it is there. */
  readonly drop: (table: string) => Promise<void>
}

export type Values = Readonly<Record<string, Value>>

/** How the stories reach one driver's engines. */
export interface Driver<Tx = unknown> {
  readonly connect: (url: string, size: number) => Promise<Shop<Tx>>
  /** Whether a second process can open the database. */
  readonly hasProcesses: boolean
  /** Where the lock has to be left out so that the engine itself does not make up for it. */
  readonly controls: Controls
  /** Who waits for a row that is held: the server, or Holdfast by repeating the transaction or its BEGIN. */
  readonly waits: 'server' | 'transaction' | 'begin'
  /** Whether it is an error that the driver itself made. */
  readonly isOwnError: (error: unknown) => boolean
  /** Tells the server, on any session, to end the statement that this session runs. Absent where nobody can. */
  readonly killStatement?: (sessionId: string) => Statement
  /** Whether rows can be locked by the text of a query. */
  readonly takesText: boolean
  /** Whether a table that does not exist is an error. */
  readonly refusesUnknownTable: boolean
  /** Whether there is something to close after which nothing can be opened. */
  readonly canBeClosed: boolean
}

/**
 * How a deal without a lock reads: in the transaction that writes, or before it where the engine would refuse the
 * write of a transaction that has read something older.
 */
export interface Controls {
  /** When the row that was read is changed. */
  readonly change: 'in-transaction' | 'before'
  /** When a row is added because of what was read. */
  readonly add: 'in-transaction' | 'before'
}
