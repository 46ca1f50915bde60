import { checkWork } from '../../core/check-field.ts'
import { LockUsageError, RetryableTransactionError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import type { Changes } from '../../dialects/claim.ts'
import type { VersionedRow } from '../../dialects/optimistic.ts'
import { readFailure } from '../failure.ts'
import { sendTogether } from '../send-together.ts'
import type { TransactionOptions } from '../transaction/options.ts'
import type { OpenTransaction } from '../port.ts'
import { partOf } from '../transaction/part.ts'
import {
  checkChanges,
  checkUpdate,
  checkVersioned,
  describeRow,
  versionIn,
  type VersionedTarget,
  type VersionedUpdate,
} from './versioned-row.ts'

/** Changes that are made without a lock, and not made when another was faster. */
export interface OptimisticWrites<Tx> {
  /**
   * Changes a row unless its version is another than expected, and gives the new version.
   *
   * Rejects with {@link RetryableTransactionError} when somebody has changed the row since: the transaction is then
   * run again, decisions included. Rejects with {@link LockUsageError} when there is no such row.
   */
  readonly updateVersioned: (tx: Tx, update: VersionedUpdate) => Promise<number>
  /**
   * Reads a row, lets `decide` say what to change, and writes that unless another was faster: then all of it is done
   * again, as often as the transaction's options allow. Gives the version that the row has in the end.
   *
   * What `decide` gives is written; nothing is when it gives undefined.
   */
  readonly withVersion: <R extends object = Row>(
    target: VersionedTarget,
    decide: (row: R, tx: Tx) => Promise<Changes | undefined>,
    options?: TransactionOptions,
  ) => Promise<number>
}

/** What the writes need of the `locks` object that they belong to. */
export interface OptimisticPort<Tx> {
  readonly find: (tx: Tx) => OpenTransaction<Tx>
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>
}

export function createOptimisticWrites<Tx>({ find, transaction }: OptimisticPort<Tx>): OptimisticWrites<Tx> {
  return {
    updateVersioned: async (tx, update) => {
      const { row, expected, set } = checkUpdate(update)
      return change(find(tx), row, { expected, set })
    },
    withVersion: async (target, decide, options) => {
      const row = checkVersioned(target)
      checkWork(decide, 'decide', 'async (row) => ({ stock: row.stock - 1 })')
      return transaction(async (tx) => {
        const open = find(tx)
        const [found, expected] = await partOf(open, () => read(open, row))
        const set = await decide(found as never, tx)
        return set === undefined ? expected : change(open, row, { expected, set: checkChanges(row, set) })
      }, options)
    },
  }
}

interface Decided {
  readonly expected: number
  readonly set: Changes
}

function change(open: OpenTransaction<unknown>, row: VersionedRow, decided: Decided): Promise<number> {
  return partOf(open, () => changeNow(open, row, decided))
}

async function changeNow(
  open: OpenTransaction<unknown>,
  row: VersionedRow,
  { expected, set }: Decided,
): Promise<number> {
  if (open.access === 'read-only')
    throw new LockUsageError('access', 'a read-only transaction cannot change a row')
  const changed = await open.dialect.optimistic(async (optimistic) => {
    const { statements, count } = optimistic.change(row, { expected, set })
    return count(await answerOf(open, sendTogether(open.session, statements)))
  })
  if (changed === 1) return expected + 1
  if (changed > 1) throw notOne(row, changed)
  await read(open, row)
  throw new RetryableTransactionError(
    'write-conflict',
    `${describeRow(row)} is no longer at version ${expected}: run the transaction again`,
  )
}

async function read(open: OpenTransaction<unknown>, row: VersionedRow): Promise<readonly [Row, number]> {
  const { dialect, session } = open
  const rows = await dialect.optimistic((optimistic) => answerOf(open, session.run(optimistic.read(row))))
  const [found] = rows
  if (found === undefined) throw new LockUsageError('key', `there is no row ${describeRow(row)}`)
  if (rows.length > 1) throw notOne(row, rows.length)
  return [found, versionIn(found, row)]
}

function notOne(row: VersionedRow, count: number): LockUsageError {
  return new LockUsageError('key', `${describeRow(row)} is ${count} rows: name one by its key`)
}

function answerOf(
  { dialect }: OpenTransaction<unknown>,
  sent: Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  return sent.catch((error: unknown) => {
    throw readFailure(error, dialect).error
  })
}
