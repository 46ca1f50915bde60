import { categories, type Category } from '../../core/category.ts'
import type { PlanDraft } from '../../core/plan.ts'
import { isUnsupported, unsupported, type Unsupported } from '../../core/support.ts'
import type { Dialect, Emitter } from '../../dialects/dialect.ts'

const noConnection = unsupported(
  'the lock belongs to a connection, and the client gives access to none outside its transactions',
  "locks.lease(...) or row locks; where the database has advisory locks that end with the transaction, isolation: 'read committed'",
)

const noSuchBegin = unsupported(
  'BEGIN would have to take the lock, and the client begins its transactions in its own way',
  'row locks, which keep out every other writer on this database',
)

const noSetting = unsupported(
  "the database's lock timeout belongs to a connection, and the client gives access to none outside its transactions",
  '{ wait: { timeoutMs } } with each lock',
)

/** A dialect without what belongs to a connection, for a client whose connections are its own. */
export function withoutConnection(dialect: Dialect): Dialect {
  const { cells, named, transaction } = dialect
  const { lockTimeout, ...begin } = transaction
  const refusalOf = (plan: PlanDraft): Unsupported | undefined => {
    if (plan.begin !== undefined && plan.begin !== transaction.writeMode) return noSuchBegin
    if (plan.atOnce !== undefined) return noConnection
    return named.keptBy === 'connection' && plan.beforeBegin !== undefined ? noConnection : undefined
  }
  const cellOf = <C extends Category>(cell: Emitter<C> | Unsupported): Emitter<C> | Unsupported =>
    isUnsupported(cell)
      ? cell
      : (request, version) => {
          const plan = cell(request, version)
          return isUnsupported(plan) ? plan : (refusalOf(plan) ?? plan)
        }
  const without = Object.fromEntries(
    categories.map((category) => [category, cellOf(cells[category] as Emitter<Category>)]),
  )
  const { doubts: _, ...trusted } = named
  return {
    ...dialect,
    cells: without as Dialect['cells'],
    named: trusted,
    transaction: {
      ...begin,
      // the client says which level a transaction has, and the server is asked whether it has it
      readsFirst: true,
      ...(lockTimeout && { lockTimeout: (ms) => inHead(lockTimeout(ms)) }),
    },
  }
}

type Timeout = ReturnType<NonNullable<Dialect['transaction']['lockTimeout']>>

function inHead(timeout: Timeout): Timeout {
  return !isUnsupported(timeout) && 'setting' in timeout ? noSetting : timeout
}
