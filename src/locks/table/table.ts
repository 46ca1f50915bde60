import { performance } from '../../core/clock.ts'
import { checkFlag, onlyKnown } from '../../core/check-field.ts'
import { UnsupportedLockError } from '../../core/errors.ts'
import type { Plan } from '../../core/plan.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { TableName } from '../../core/request.ts'
import { unsupported } from '../../core/support.ts'
import { isolationOf } from '../named/default-isolation.ts'
import type { OpenTransaction } from '../port.ts'
import { limitedIn, naming } from '../refused.ts'
import { receiptOf, whileOpen } from '../rows/rows.ts'
import { mustSeeTheLast } from '../sees-the-last.ts'
import { tellInside } from '../transaction/lock-stories.ts'
import { lockInTime, oneAtATime } from '../transaction/one-at-a-time.ts'
import { withSavepoint } from '../transaction/savepoint.ts'
import { checkTable, heldTable, nameOf } from './held.ts'
import type { TableOptions } from './options.ts'
import type { PlanTable } from './port.ts'
import { isBeginning, takeInside } from './prepare.ts'

/** A call for a lock on a table. */
export interface TableCall {
  readonly table: TableName
  readonly options: TableOptions
  readonly planTable: PlanTable
}

/** Locks a table until the transaction ends. What the transaction has from its beginning is not taken again. */
export async function lockTable(open: OpenTransaction<unknown>, call: TableCall): Promise<Receipt> {
  const { table, options } = call
  onlyKnown(options, ['mode', 'blockReaders', 'wait', 'exact', 'savepoint'])
  checkFlag('savepoint', options.savepoint)
  const { savepoint: _, ...lock } = options
  const { mode, wait } = checkTable({ ...lock, table })
  const held = heldTable(open, { ...lock, table })
  if (held !== undefined) return held
  const began = performance.now()
  const plan = planFor(open, call)
  const asked = limitedIn(open, { label: `table lock on ${nameOf(table)}`, table, mode, wait, began })
  const locking = (): Promise<Receipt> =>
    oneAtATime(open, () => lockNow(open, { ...call, plan })).catch((error: unknown) => {
      throw naming(error, asked)
    })
  return tellInside(open, () => ({ kind: 'table', table, mode, wait }), locking)
}

function planFor(open: OpenTransaction<unknown>, { table, options, planTable }: TableCall): Plan {
  const { isolation, dialect } = open
  const { savepoint: _, ...lock } = options
  const plan = planTable(open, { ...lock, table, ...(isolation && { isolation }) })
  if (!isBeginning(plan)) return plan
  throw new UnsupportedLockError(
    dialect.name,
    'table',
    unsupported(
      'the lock has to be there before the transaction begins',
      `name the table where the transaction begins: locks.transaction(work, { tables: ${nameOf(table)} })`,
    ),
  )
}

const tablesOfTransaction =
  "name the table where the transaction begins, as in locks.transaction(work, { tables: 'stock' })"

async function lockNow(
  open: OpenTransaction<unknown>,
  { options, plan }: TableCall & { readonly plan: Plan },
): Promise<Receipt> {
  await isolationOf(open)
  mustSeeTheLast(open.dialect, open.isolation, { category: 'table', instead: tablesOfTransaction })
  const began = performance.now()
  const lock = (): Promise<unknown> =>
    withSavepoint(open, { isAsked: options.savepoint === true }, () =>
      whileOpen(open, plan.setting, () => takeInside(open, plan)),
    )
  await lockInTime(open, options.wait, lock)
  return receiptOf(plan, options, { statements: plan.inTransaction, waitedMs: performance.now() - began })
}
