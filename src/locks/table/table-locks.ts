import type { Receipt } from '../../core/receipt.ts'
import type { TableName } from '../../core/request.ts'
import type { Unsupported } from '../../core/support.ts'
import type { DialectName, Registry } from '../../registry.ts'
import type { TableOptions } from './options.ts'

/** A table's name, where one of the dialects can lock a table. */
export type TableOf<D extends DialectName> = Registry[D]['cells']['table'] extends Unsupported
  ? never
  : TableName

/** Locks on whole tables. */
export interface TableLocks<Tx, D extends DialectName = DialectName> {
  /**
   * Locks a table until the transaction ends: for work on so much of it that row locks would be too many, or on rows
   * that are not there yet.
   *
   * Refused with {@link UnsupportedLockError} where the lock has to be there before the transaction begins, as on SQLite,
   * MySQL and MariaDB: there name it in `tables` of `transaction`, which works on every database that has the lock.
   * Rejects with {@link LockNotAvailableError} (`wait: 'nowait'`) or {@link LockTimeoutError} when others use the table.
   *
   * @example
   * const granted = await locks.transaction(
   *   async (tx) => {
   *     const { granted } = await locks.table(tx, 'stock')
   *     return granted
   *   },
   *   { tables: 'stock' },
   * )
   * granted // => 'exclusive'
   */
  readonly table: (tx: Tx, table: TableOf<D>, options?: TableOptions) => Promise<Receipt>
}
