import { categories } from '../../core/category.ts'
import type { CheckedRow, RowCategory } from '../../core/check-request.ts'
import type { PlanDraft } from '../../core/plan.ts'
import { isUnsupported, native, type Unsupported } from '../../core/support.ts'
import type { Version } from '../../core/version.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Sabotage } from '../subject.ts'

type RowEmitter = (request: CheckedRow, version: Version) => PlanDraft | Unsupported

const rowCategories = categories.filter(
  (category): category is RowCategory => category !== 'advisory' && category !== 'table',
)

/** The same dialect with other emitters for the locks on rows. */
function withRows(dialect: Dialect, change: (cell: RowEmitter | Unsupported) => RowEmitter): Dialect {
  const cells = rowCategories.map((category) => [category, change(dialect.cells[category])] as const)
  return { ...dialect, cells: { ...dialect.cells, ...Object.fromEntries(cells) } }
}

export const givesWeakerLock: Sabotage = {
  does: 'gives a weaker lock in the place of one that the engine does not have',
  dialect: (dialect) => {
    const plain = dialect.cells['row-exclusive']
    if (isUnsupported(plain)) return dialect
    const weaker = withRows(dialect, (cell) => (request, version) => {
      const isRefused = isUnsupported(cell)
      const emit = isRefused ? plain : cell
      const wait = isRefused ? 'block' : request.wait
      return emit({ ...request, wait, protectAbsence: false }, version)
    })
    const table = isUnsupported(dialect.cells.table) ? noLock : dialect.cells.table
    return { ...weaker, cells: { ...weaker.cells, table } }
  },
}

function noLock(): PlanDraft {
  return { support: native('table'), waiting: { by: 'nobody' } }
}

export const callsAllNative: Sabotage = {
  does: 'calls every lock native, whatever it is made of',
  dialect: (dialect) =>
    withRows(dialect, (cell) => (request, version) => {
      const draft = isUnsupported(cell) ? cell : cell(request, version)
      return isUnsupported(draft) ? draft : { ...draft, support: native(draft.support.granularity) }
    }),
}

/** Locks that should have been refused. */
export const refusalDefects: readonly Sabotage[] = [givesWeakerLock, callsAllNative]
