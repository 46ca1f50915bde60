import type { Plan } from '../../core/plan.ts'
import type { Target } from '../../core/request.ts'
import { isSql, type SqlStatement, type Value } from '../../core/statement.ts'
import type { OpenTransaction } from '../port.ts'
import type { RowOptions } from './rows.ts'

/** Where a lock is planned. */
type Place = Pick<OpenTransaction<unknown>, 'dialect' | 'version' | 'isolation'>

/** How rows are locked, as far as a plan tells. */
export type RowLock = Omit<RowOptions, 'savepoint'>

/** Plans a lock on rows. Throws where it cannot be given. */
export type PlanRows = (open: Place, lock: RowLock, target?: Target) => Plan

interface KnownPlan {
  readonly place: Place
  readonly asked: Asked
  readonly plan: Plan
}

/** All that a plan depends on, beside the values of a key. */
interface Asked {
  readonly lock: RowLock
  readonly table: Target['table'] | undefined
  readonly columns: readonly string[]
}

/** So many tables, and so many ways to lock each: an application has few. */
const maxTables = 200
const maxWays = 8

/** Every lock on rows is planned; most differ from one before in nothing but the values of their key. */
export function rememberRowPlans(
  planFor: PlanRows,
): (open: Place, options: RowOptions, target?: Target) => Plan {
  const plans = new Map<string, readonly KnownPlan[]>()
  return (open, { savepoint: _, ...lock }, target) => {
    const values = valuesOf(target)
    if (values === undefined) return planFor(open, lock, target)
    const asked: Asked = { lock, table: target?.table, columns: Object.keys(target?.key ?? {}) }
    const name = String(asked.table)
    const ways = plans.get(name) ?? []
    const known = ways.find((way) => isAt(way.place, open) && isSame(way.asked, asked))
    if (known !== undefined) return withValues(known.plan, values)
    const plan = planFor(open, lock, target)
    if (!isOfShape(plan, values)) return plan
    if (plans.size >= maxTables) plans.clear()
    const { dialect, version, isolation } = open
    // a copy: whoever asked may change its own
    const way = { place: { dialect, version, isolation }, asked: structuredClone(asked), plan }
    plans.set(name, [way, ...ways].slice(0, maxWays))
    return plan
  }
}

/** None where rows are not asked for by key. Undefined where a value has to be looked at, or a list makes another text. */
function valuesOf(target: Target | undefined): readonly Value[] | undefined {
  if (target === undefined) return []
  // what else there is would be refused
  if (Object.keys(target).length !== 2 || typeof target.key !== 'object') return undefined
  const values: readonly unknown[] = Object.values(target.key ?? {})
  return values.length > 0 && values.every(isUsual) ? (values as readonly Value[]) : undefined
}

function isUsual(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'bigint' || Number.isSafeInteger(value)
}

function isAt(place: Place, { dialect, version, isolation }: Place): boolean {
  return place.dialect === dialect && place.version === version && place.isolation === isolation
}

/** Field by field: a text of all of them would be made anew for each lock. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const fields = Object.keys(a)
  return (
    fields.length === Object.keys(b).length &&
    fields.every((field) => field in b && isSame(a[field as never], b[field as never]))
  )
}

/**
 * Whether the values of a key are the parameters of the plan's read, in their order, and nowhere else. Values that are
 * alike would not tell.
 */
function isOfShape(
  { query, needs, beforeBegin, inTransaction, afterEnd }: Plan,
  values: readonly Value[],
): boolean {
  if (values.length === 0) return true
  if ([needs, beforeBegin, inTransaction, afterEnd].some((statements) => statements.length > 0)) return false
  const read = query?.style === 'touch' ? undefined : query?.read
  return (
    read !== undefined &&
    isSql(read) &&
    new Set(values).size === values.length &&
    read.params.length === values.length &&
    values.every((value, place) => read.params[place] === value)
  )
}

function withValues(plan: Plan, params: readonly Value[]): Plan {
  const { query } = plan
  if (params.length === 0 || query?.read === undefined || query.style === 'touch') return plan
  const read: SqlStatement = { ...query.read, params }
  return { ...plan, query: { ...query, read } }
}
