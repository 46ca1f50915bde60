import { checkTarget, onlyKnown } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { TableName, Target } from '../../core/request.ts'
import type { Value } from '../../core/statement.ts'
import { namedKey } from '../named/named-key.ts'

/** Something to lock together with others: rows by their key, or a name. */
export type Resource = Target | { readonly name: LockKey }

/** What is locked, each once, in the order in which every caller locks it. Places are those of the resources. */
export interface ResourceOrder {
  readonly names: readonly { readonly key: LockKey; readonly places: readonly number[] }[]
  readonly tables: readonly TableRows[]
}

/** The rows of one table. */
export interface TableRows {
  readonly table: TableName
  /** The keys of the statements that lock them, in order. */
  readonly steps: readonly Target['key'][]
  readonly wanted: readonly { readonly place: number; readonly key: Target['key'] }[]
}

/** More would crowd the engines' tables of locks, and the parameters that SQL Server takes in one statement. */
const maxResources = 1000

export function orderResources(resources: readonly Resource[]): ResourceOrder {
  if (!Array.isArray(resources) || resources.length === 0)
    throw new LockUsageError('resources', 'must be a list of at least one row target or name')
  const names = new Map<string, { readonly key: LockKey; readonly places: number[] }>()
  const tables = new Map<string, { readonly target: Target; readonly place: number }[]>()
  for (const [place, resource] of (resources as readonly Resource[]).entries()) {
    if (isName(resource, place)) {
      const { id, key } = namedKey(resource.name)
      names.set(id, { key, places: [...(names.get(id)?.places ?? []), place] })
    } else {
      const target = checkTarget(resource)
      const id = JSON.stringify([target.table].flat())
      tables.set(id, [...(tables.get(id) ?? []), { target, place }])
    }
  }
  const order = {
    names: byId(names),
    tables: byId(tables).map((wanted) => tableRows(wanted)),
  }
  const count = order.names.length + order.tables.flatMap(({ steps }) => steps.flatMap(valuesIn)).length
  if (count <= maxResources) return order
  throw new LockUsageError('resources', `${count} are too many at once (at most ${maxResources})`)
}

function byId<T>(entries: ReadonlyMap<string, T>): readonly T[] {
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

function isName(resource: Resource, place: number): resource is { readonly name: LockKey } {
  if (typeof resource !== 'object' || resource === null)
    throw new LockUsageError(`resources[${place}]`, 'must be { table, key } or { name }')
  if (!('name' in resource)) return false
  onlyKnown(resource, ['name'], `resources[${place}]`)
  return true
}

/**
 * Rows that one column names are locked by one statement, in the server's own order of that column. With several
 * columns a list of each would lock every combination, so there each row has a statement, in the order of the values.
 */
function tableRows(found: readonly { readonly target: Target; readonly place: number }[]): TableRows {
  const [first] = found
  if (first === undefined) throw new Error('a table is there because a resource names it')
  const { table, key } = first.target
  const columns = Object.keys(key).toSorted()
  const keys = found.map(({ target }) => target.key)
  if (keys.some((other) => Object.keys(other).toSorted().join('\0') !== columns.join('\0'))) {
    const name = typeof table === 'string' ? table : table.join('.')
    throw new LockUsageError(
      'resources',
      `name all rows of ${name} by the same columns: else they have no order`,
    )
  }
  const tuples = distinct(keys.flatMap((one) => combinations(columns.map((column) => [one[column]].flat()))))
  return {
    table,
    steps: stepsOf(columns, tuples),
    wanted: found.map(({ target, place }) => ({ place, key: target.key })),
  }
}

type Tuple = readonly (Value | undefined)[]

function stepsOf(columns: readonly string[], tuples: readonly Tuple[]): readonly Target['key'][] {
  const [column, ...others] = columns
  if (column !== undefined && others.length === 0)
    return [{ [column]: tuples.map(([value]) => value as Value) }]
  return tuples.map((tuple) =>
    Object.fromEntries(columns.map((name, index) => [name, tuple[index] as Value])),
  )
}

function combinations(lists: readonly Tuple[]): readonly Tuple[] {
  return lists.reduce<readonly Tuple[]>(
    (tuples, list) => tuples.flatMap((tuple) => list.map((value) => [...tuple, value])),
    [[]],
  )
}

function distinct(tuples: readonly Tuple[]): readonly Tuple[] {
  const byText = new Map(tuples.map((tuple) => [JSON.stringify(tuple.map(textOf)), tuple]))
  return [...byText.values()].toSorted(compareTuples)
}

function compareTuples(a: Tuple, b: Tuple): number {
  for (const [index, value] of a.entries()) {
    const difference = compare(value, b[index])
    if (difference !== 0) return difference
  }
  return 0
}

/** Numbers by their size, whatever JavaScript calls them; all else by its text. */
function compare(a: unknown, b: unknown): number {
  const areNumbers = [a, b].every((value) => typeof value === 'number' || typeof value === 'bigint')
  const [left, right] = areNumbers ? [a as number, b as number] : [textOf(a), textOf(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Whether a value that came from the database is the one that was sent; drivers disagree on the type of a number. */
export function sameValue(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b)
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function valuesIn(key: Target['key']): readonly Value[] {
  return Object.values(key).slice(0, 1).flat()
}
