import type { CheckedRow, CheckedTable, RowCategory } from '../../core/check-request.ts'
import type { PlanDraft, SettingChange } from '../../core/plan.ts'
import type { SqlStatement } from '../../core/statement.ts'
import { isUnsupported, type Unsupported } from '../../core/support.ts'
import type { Version } from '../../core/version.ts'
import type { Dialect } from '../../dialects/dialect.ts'

/** What becomes of the requests and the plans of a dialect. */
export interface Change<Request> {
  /** What is asked of the dialect in the place of what the caller asked. */
  readonly ask?: (request: Request) => Request
  readonly plan?: (draft: PlanDraft) => PlanDraft
}

const rowCategories: readonly RowCategory[] = [
  'row-exclusive',
  'row-shared',
  'skip-locked',
  'nowait',
  'lock-timeout',
]

/** The dialect with other plans for rows. What it refuses, it still refuses. */
export function withRowPlans(
  dialect: Dialect,
  change: Change<CheckedRow>,
  changed: readonly RowCategory[] = rowCategories,
): Dialect {
  const cells = changed.map((category) => [category, changedCell(dialect.cells[category], change)] as const)
  return { ...dialect, cells: { ...dialect.cells, ...Object.fromEntries(cells) } }
}

/** The dialect with other plans for whole tables. */
export function withTablePlans(dialect: Dialect, change: Change<CheckedTable>): Dialect {
  return { ...dialect, cells: { ...dialect.cells, table: changedCell(dialect.cells.table, change) } }
}

/** The dialect with another way to change the settings that limit a wait. */
export function withSettings(
  dialect: Dialect,
  change: (setting: SettingChange) => SettingChange,
  changeHead: (head: SqlStatement) => SqlStatement,
): Dialect {
  const { lockTimeout } = dialect.transaction
  const plan = (draft: PlanDraft): PlanDraft =>
    draft.setting === undefined ? draft : { ...draft, setting: change(draft.setting) }
  return {
    ...withRowPlans(dialect, { plan }),
    transaction: {
      ...dialect.transaction,
      ...(lockTimeout && {
        lockTimeout: (ms) => {
          const limit = lockTimeout(ms)
          if (isUnsupported(limit)) return limit
          return 'head' in limit ? { head: changeHead(limit.head) } : { setting: change(limit.setting) }
        },
      }),
    },
  }
}

function changedCell<Request>(
  cell: Unsupported | ((request: Request, version: Version) => PlanDraft | Unsupported),
  { ask = (request) => request, plan = (draft) => draft }: Change<Request>,
): Unsupported | ((request: Request, version: Version) => PlanDraft | Unsupported) {
  if (typeof cell !== 'function') return cell
  return (request, version) => {
    const draft = cell(ask(request), version)
    return isUnsupported(draft) ? draft : plan(draft)
  }
}
