import { show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Plan, QueryLock } from '../../core/plan.ts'
import { hasAggregate, outlineOf, type QueryOutline } from '../../core/query-outline.ts'
import type { Target } from '../../core/request.ts'
import type { SqlStatement, Statement, Value } from '../../core/statement.ts'
import type { LockingRead } from './rows.ts'
import { sourcesIn } from './sources.ts'

/** Where a lock goes in a query that is written by hand: one of the two is empty, which one depends on the engine. */
export interface LockPlaces {
  /** Behind each locked table: `FROM account ${hint}`. */
  readonly hint: string
  /** At the end of the statement. */
  readonly clause: string
}

/** A SELECT and its values. */
export interface SqlQuery {
  /** The text, with the placeholders of the driver. */
  readonly sql: string
  /** The values of its placeholders, in their order. */
  readonly params?: readonly Value[]
}

/**
 * The rows to lock: by table and key, which works everywhere; by a SELECT, at whose end the lock is put; or by a
 * function that is told where the engine wants it.
 */
export type RowQuery = Target | string | SqlQuery | ((lock: LockPlaces) => string | SqlQuery)

export function isTarget(query: unknown): query is Target {
  return typeof query === 'object' && query !== null && 'table' in query && 'key' in query
}

export function lockingRead(query: RowQuery, plan: Plan): LockingRead {
  return { statement: lockingStatement(query, plan) }
}

function lockingStatement(query: RowQuery, { query: lock }: Plan): Statement {
  if (lock === undefined) throw new LockUsageError('query', 'this lock is not one on rows')
  if (isTarget(query)) return lock.read ?? unreachable()
  const places = lockPlaces(lock)
  if (typeof query === 'function') {
    const statement = toStatement(query(places))
    checkSelect(statement.sql.replace(places.clause, ''))
    return checkPlaces(statement, places)
  }
  const statement = toStatement(query)
  checkSelect(statement.sql)
  if (places.hint !== '') {
    throw new LockUsageError(
      'query',
      'this database wants the lock after the table name: pass { table, key }, or a function that puts the hint in its place',
    )
  }
  // a comment at the end of the query would swallow it on the same line
  const gap = /--|#/.test(statement.sql) ? '\n' : ' '
  return { ...statement, sql: `${statement.sql}${gap}${places.clause}`.trimEnd() }
}

function lockPlaces(lock: QueryLock): LockPlaces {
  if (lock.style === 'clause') return { hint: '', clause: lock.clause }
  if (lock.style === 'table-hint') return { hint: `WITH (${lock.hints.join(', ')})`, clause: '' }
  return { hint: '', clause: '' }
}

function toStatement(query: string | SqlQuery): SqlStatement {
  const given: Partial<SqlQuery> = typeof query === 'string' ? { sql: query } : (query ?? {})
  const { sql, params = [], ...rest } = given
  if (typeof sql !== 'string')
    throw new LockUsageError(
      'query',
      'table' in rest
        ? 'names a table and no rows: pass { table, key }, as in { table: "account", key: { id: 1 } }'
        : 'is none of a SELECT, { sql, params }, { table, key } and a function: pass one of them',
    )
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw new LockUsageError(`query.${unknown}`, 'is not a field of a statement: pass { sql, params }')
  if (!Array.isArray(params))
    throw new LockUsageError('query.params', `${show(params)} is not a list: pass one, as in [7]`)
  return { sql: sql.trim().replace(/;\s*$/, ''), params }
}

/** Shapes of a text in which a lock at its end would not be one on the rows that it gives. */
const refusedShapes: readonly (readonly [RegExp, string])[] = [
  [/;/, 'must be one statement: put a value with a semicolon into params'],
  [/\/\*(?!.*\*\/)/s, 'ends in a comment that is not closed, which would swallow the lock'],
]

const notOfATable =
  'a row of the result is not a row of a table, so there is none to lock: select the keys first, then lock the rows by key'

/** Shapes of the outermost level in which InnoDB locks nothing, or what it happened to read. */
const refusedLevels: readonly (readonly [RegExp, string])[] = [
  [
    /^with .*\bselect\b/,
    'a WITH in front of the SELECT is not supported, as the rows that it reads would not be locked: put it into the SELECT',
  ],
  [
    /\b(?:union|intersect|except|minus (?:all )?(?:select|\(\)))(?: |$)/,
    'the parts of a set operation are not all locked: lock each part by itself',
  ],
  [/^\(\)/, 'is in parentheses, behind which nothing is locked: pass the SELECT without them'],
  [/^(?!select(?: |$))/, 'only a SELECT can lock the rows that it reads'],
  [/^select (?:(?:all|high_priority|straight_join|sql_\w+) )*distinct(?:row)?\b/, notOfATable],
  [/\b(?:group by|having)\b/, notOfATable],
  // PostgreSQL skips a row if one of two locks says so, and the receipt would tell of the other
  [
    /\b(?:for (?:(?:no key )?update|(?:key )?share)|lock in share mode|skip locked$)(?: |$)/,
    'has a lock clause of its own: use the options instead',
  ],
]

/** Texts that can lock what they read: an application has few, and sends them again and again. */
const checked = new Set<string>()

function checkSelect(sql: string): void {
  if (checked.has(sql)) return
  const outline = outlineOf(sql)
  const reason =
    refusedShapes.find(([shape]) => shape.test(sql))?.[1] ??
    (outline === undefined
      ? 'cannot be read for certain: put what is in quotes into params, leave out comments that are run or hold others, and put a space behind --'
      : whyNotLocked(outline))
  if (reason !== undefined) throw new LockUsageError('query', reason)
  if (checked.size < 500) checked.add(sql)
}

/** Why not every row that the query gives is one of a table, and locked. For `max(id)` InnoDB locks one row. */
function whyNotLocked(outline: QueryOutline): string | undefined {
  const level = outline.top.join(' ')
  const shape = refusedLevels.find(([refused]) => refused.test(level))
  if (shape !== undefined) return shape[1]
  if (hasAggregate(outline))
    return `aggregate and window functions read more rows than they return: ${notOfATable}`
  const { hasTable, hasQuery } = sourcesIn(outline.top)
  if (hasQuery)
    return 'rows of a subquery in FROM are not locked on every database: lock them in a separate query'
  return hasTable ? undefined : 'reads from no table, so there is no row to lock: name the table in FROM'
}

/** A function that leaves the lock out would read without one. */
function checkPlaces(statement: SqlStatement, { hint, clause }: LockPlaces): SqlStatement {
  if (statement.sql.includes(hint) && statement.sql.includes(clause)) return statement
  throw new LockUsageError('query', `does not contain the lock that it was given: ${hint}${clause}`)
}

function unreachable(): never {
  throw new Error('a plan for a target always has a read')
}
