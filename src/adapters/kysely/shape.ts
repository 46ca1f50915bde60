import { LockUsageError } from '../../core/errors.ts'
import { hasAggregate, outlineOf } from '../../core/query-outline.ts'
import { isRaw, isSelect, someChild, type QueryNode, type RawNode, type SelectNode } from './nodes.ts'
import type { Place } from './places.ts'
import { tableParts, type Source } from './sources.ts'

const instead = 'select the keys first, then lock the rows by key'

/**
 * Refuses a SELECT whose rows are not rows of a table.
 *
 * PostgreSQL refuses these by itself. InnoDB runs them and locks what it happened to read: for `max(id)` one row, for
 * a shared lock with `count(*)` none at all.
 */
export function checkShape(select: SelectNode): void {
  const modifiers = (select.frontModifiers ?? []) as readonly QueryNode[]
  const found = [
    modifiers.some(({ modifier }) => modifier === 'Distinct') && 'distinct',
    select.distinctOn !== undefined && 'distinctOn',
    select.groupBy !== undefined && 'groupBy',
    select.having !== undefined && 'having',
    select.setOperations !== undefined && 'union',
  ].find((field) => field !== false)
  if (found !== undefined) {
    throw new LockUsageError(
      found,
      `a row of the result is not a row of a table, so there is none to lock: ${instead}`,
    )
  }
  const lists = [
    ...((select.selections ?? []) as readonly QueryNode[]),
    select.orderBy as QueryNode | undefined,
  ]
  if (lists.some((node) => node !== undefined && aggregates(node))) {
    throw new LockUsageError(
      'select',
      `aggregate and window functions read more rows than they return: ${instead}`,
    )
  }
}

/** Whether the expression itself aggregates; a sub-query in it is another query. */
function aggregates(node: QueryNode): boolean {
  if (node.kind === 'AggregateFunctionNode' || (isRaw(node) && aggregatesInText(node))) return true
  return !isSelect(node) && someChild(node, aggregates)
}

/** What stands between the pieces of text is an expression, as a value is. */
function aggregatesInText({ sqlFragments }: RawNode): boolean {
  const text = sqlFragments.join(' q ')
  return hasAggregate(outlineOf(text) ?? { own: text.toLowerCase().replace(/\s*\(/g, ' (') })
}

/** Those of the query's sources whose rows are to be locked: all, or those that `of` names. */
export function lockedSources(
  sources: readonly Source[],
  of: readonly QueryNode[] | undefined,
  place: Place,
): readonly Source[] {
  if (sources.length === 0) throw new LockUsageError('from', 'there is no table whose rows could be locked')
  const chosen = of === undefined ? sources : [...new Set(of.flatMap((one) => named(one, sources)))]
  for (const source of chosen) checkLockable(source, place)
  return chosen
}

/** The names under which the query knows the sources. */
export function namesOf(chosen: readonly Source[], sources: readonly Source[]): readonly string[] {
  return chosen.map(({ name = '' }) => {
    if (sources.filter((source) => source.name === name).length === 1) return name
    throw new LockUsageError('of', `${name} is the name of two tables in the query: give them aliases`)
  })
}

/** A table is named by its alias, or by its own name where no alias is the same. */
function named(node: QueryNode, sources: readonly Source[]): readonly Source[] {
  const parts = tableParts(node)
  if (parts === undefined) throw new LockUsageError('of', 'must be the names of tables')
  const { schema, name } = parts
  const byAlias = schema === undefined ? sources.filter((source) => source.name === name) : []
  const byTable = sources.filter(
    ({ table }) => table?.name === name && (schema === undefined || table.schema === schema),
  )
  const found = byAlias.length > 0 ? byAlias : byTable
  if (found.length > 0) return found
  throw new LockUsageError(
    'of',
    `${schema === undefined ? '' : `${schema}.`}${name} is not a table of the query`,
  )
}

function checkLockable(source: Source, place: Place): void {
  const name = source.name ?? 'a part of FROM'
  if (source.isSubquery) {
    throw new LockUsageError(
      'from',
      `${name} is a subquery, whose rows some databases lock and others do not: lock inside it, or name the tables to lock in of`,
    )
  }
  if (source.table === undefined) {
    throw new LockUsageError(
      'from',
      `${name} is SQL text that Holdfast does not parse: use sql.table, or name the tables to lock in of`,
    )
  }
  if (isWithQuery(source, place))
    throw new LockUsageError('from', `${name} is a WITH query: its rows are locked inside it or not at all`)
  if (source.isOptional) {
    throw new LockUsageError(
      'of',
      `${name} is on the optional side of an outer join, where there may be no row to lock: name the other tables in of, or use an inner join`,
    )
  }
}

/** Some databases tell names apart by case and others do not: a name that differs only in case may be the same. */
export function isWithQuery({ table }: Source, { withQueries }: Place): boolean {
  if (table === undefined || table.schema !== undefined) return false
  return [...withQueries.keys()].some((name) => name.toLowerCase() === table.name.toLowerCase())
}
