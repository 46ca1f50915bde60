import type { SqlStatement, Value } from '../core/statement.ts'
import {
  exactIdColumn,
  type Changes,
  type ClaimTerms,
  type HeldClaim,
  type HeldClaims,
  type QueueCondition,
  type QueueTable,
} from './claim.ts'
import { quoteTable, type SqlSyntax } from './sql.ts'

/** How a dialect writes names, parameters and its own clock. */
export interface ClaimSyntax extends SqlSyntax {
  /** Milliseconds since 1970 by the server's clock. */
  readonly nowMs: string
  /** A parameter as a number of milliseconds, where the engine does not see from its use that it is one. */
  readonly duration?: (place: string) => string
  /**
   * A value of the queue's description as a part of the text, for a server that prepares a statement once for all
   * values: only then does it know that an index on some rows has those that are asked for. Undefined for a value that
   * has to travel beside the text.
   */
  readonly constant?: (value: Value) => string | undefined
  /** An id as text where JavaScript has no value for it, null otherwise. Absent where drivers never round one. */
  readonly exactId?: (column: string) => string
}

/** The name of the table inside of a pick. A column with it in front can never be taken for a text. */
export const alias = 'j'

/**
 * The parts of a claim's statements. Each part adds its values to the parameters as it is written, so parts must be
 * written in the order in which they stand in the text.
 */
export interface ClaimText {
  readonly table: string
  readonly id: string
  readonly value: (value: Value) => string
  /** The table under its short name, and its id under that name. */
  readonly from: string
  readonly key: string
  readonly claimable: () => string
  /** Rows of the queue whose claim has run out. */
  readonly expired: () => string
  /** Rows of the queue that nobody has and nobody may claim. */
  readonly exhausted: () => string
  /** Rows of the queue, whatever became of them. */
  readonly matching: () => string
  /** Rows that meet these conditions, at least one. */
  readonly meeting: (conditions: readonly QueueCondition[]) => string
  /** How many rows can be claimed, are delayed, are claimed, and were claimed too often. */
  readonly sums: () => string
  /** The rows of one claim: found the way they were picked, so that the token needs no index. */
  readonly claimedBy: (token: string) => string
  readonly order: (under?: string) => string
  readonly setClaim: (terms: ClaimTerms) => string
  /** Nobody has the row any more, and nobody gets it before the delay is over. */
  readonly setFree: (change?: Changes, delayMs?: number) => string
  /** The same, and the claim does not count. */
  readonly setUnclaimed: () => string
  readonly setDone: (change: Changes) => string
  readonly setUntil: (ms: number) => string
  /** The row, as long as the claim is the holder's. */
  readonly held: (held: HeldClaim) => string
  readonly heldBy: (token: string) => string
  /** The same of several rows. */
  readonly allHeld: (held: HeldClaims) => string
  /** What is asked for besides a column, so that the id of its row is known exactly: begins with a comma. */
  readonly withExactId: (id: string) => string
  readonly statement: (sql: string) => SqlStatement
}

export function claimText(syntax: ClaimSyntax, queue: QueueTable): ClaimText {
  const { quote, nowMs } = syntax
  const params: Value[] = []
  const value = (one: Value): string => syntax.parameter(params.push(one))
  const at = (column: string): string => `${alias}.${quote(column)}`
  const until = at(queue.until)
  const isOver = `(${until} IS NULL OR ${until} <= ${nowMs})`
  const fixed = (one: Value): string => syntax.constant?.(one) ?? value(one)
  const matches = (): readonly string[] => queue.where.map((one) => conditionText(one, at, fixed))
  const limited = (sign: '<' | '>='): readonly string[] =>
    queue.attempts === undefined || queue.maxAttempts === undefined
      ? []
      : [`COALESCE(${at(queue.attempts)}, 0) ${sign} ${value(queue.maxAttempts)}`]
  const heldBy = (token: string): string => `${quote(queue.token)} = ${value(token)}`
  const table = quoteTable(syntax, queue.table)
  return {
    table,
    id: quote(queue.id),
    value,
    from: `${table} AS ${alias}`,
    key: at(queue.id),
    claimedBy: (token) => [...matches(), `${at(queue.token)} = ${value(token)}`].join(' AND '),
    claimable: () => [...matches(), isOver, ...limited('<')].join(' AND '),
    expired: () => [...matches(), `${at(queue.token)} IS NOT NULL`, `${until} <= ${nowMs}`].join(' AND '),
    matching: () => ['1 = 1', ...matches()].join(' AND '),
    meeting: (conditions) => conditions.map((one) => conditionText(one, at, value)).join(' AND '),
    sums: () => sumsOf({ syntax, until, token: at(queue.token), isOver, limited }),
    exhausted: () => [...matches(), isOver, ...limited('>=')].join(' AND '),
    order: (under) => orderText(queue, under === undefined ? at : (column) => `${under}.${quote(column)}`),
    ...settersOf({ syntax, value }, queue),
    heldBy,
    held: ({ id, token }) => `${quote(queue.id)} = ${value(id)} AND ${heldBy(token)}`,
    allHeld: ({ ids, token }) => `${quote(queue.id)} IN (${ids.map(value).join(', ')}) AND ${heldBy(token)}`,
    withExactId: (id) =>
      syntax.exactId === undefined ? '' : `, ${syntax.exactId(id)} AS ${quote(exactIdColumn)}`,
    statement: (sql) => ({ sql, params }),
  }
}

interface Counting {
  readonly syntax: ClaimSyntax
  readonly until: string
  readonly token: string
  readonly isOver: string
  readonly limited: (sign: '<' | '>=') => readonly string[]
}

function sumsOf({ syntax: { quote, nowMs }, until, token, isOver, limited }: Counting): string {
  const sum = (name: string, ...conditions: readonly string[]): string =>
    `SUM(CASE WHEN ${conditions.join(' AND ')} THEN 1 ELSE 0 END) AS ${quote(name)}`
  const isLater = `${until} > ${nowMs}`
  const ready = sum('ready', isOver, ...limited('<'))
  const delayed = sum('delayed', isLater, `${token} IS NULL`)
  const claimed = sum('claimed', isLater, `${token} IS NOT NULL`)
  const tooOften = limited('>=')
  const spent = tooOften.length === 0 ? `0 AS ${quote('spent')}` : sum('spent', isOver, ...tooOften)
  return [ready, delayed, claimed, spent].join(', ')
}

interface Setting {
  readonly syntax: ClaimSyntax
  readonly value: (value: Value) => string
}

function settersOf(
  { syntax: { quote, nowMs, duration = (place) => place }, value }: Setting,
  { token, until, worker, attempts, unique }: QueueTable,
): Pick<ClaimText, 'setClaim' | 'setFree' | 'setUnclaimed' | 'setDone' | 'setUntil'> {
  const assign = (change: Changes): readonly string[] =>
    Object.entries(change).map(([column, one]) => `${quote(column)} = ${value(one)}`)
  const later = (ms: number): string => `${quote(until)} = ${nowMs} + ${duration(value(ms))}`
  const clear = (...columns: (string | undefined)[]): readonly string[] =>
    columns.filter((column) => column !== undefined).map((column) => `${quote(column)} = NULL`)
  return {
    setClaim: (terms) =>
      [
        `${quote(token)} = ${value(terms.token)}`,
        later(terms.visibilityMs),
        ...(worker === undefined ? [] : [`${quote(worker)} = ${value(terms.worker ?? null)}`]),
        ...(attempts === undefined ? [] : [`${quote(attempts)} = COALESCE(${quote(attempts)}, 0) + 1`]),
        ...clear(unique),
      ].join(', '),
    setFree: (change = {}, delayMs = 0) =>
      [...assign(change), ...(delayMs === 0 ? clear(until) : [later(delayMs)]), ...clear(token, worker)].join(
        ', ',
      ),
    // never below nought: somebody may have reset the number meanwhile
    setUnclaimed: () =>
      [
        ...clear(until, token, worker),
        ...(attempts === undefined
          ? []
          : [`${quote(attempts)} = CASE WHEN ${quote(attempts)} > 0 THEN ${quote(attempts)} - 1 ELSE 0 END`]),
      ].join(', '),
    setDone: (change) => [...assign(change), ...clear(token, until)].join(', '),
    setUntil: later,
  }
}

/** A chain of OR, not IN: SQLite proves only of the chain that an index on some rows has all that are asked for. */
export function conditionText(
  { column, values }: QueueCondition,
  at: (column: string) => string,
  value: (value: Value) => string,
): string {
  const parts = values.map((one) =>
    one === null ? `${at(column)} IS NULL` : `${at(column)} = ${value(one)}`,
  )
  return parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`
}

export function orderText({ order }: QueueTable, at: (column: string) => string): string {
  return order.map(({ column, direction }) => at(column) + (direction === 'desc' ? ' DESC' : '')).join(', ')
}
