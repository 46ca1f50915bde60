import { onlyKnown, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import { outlineOf } from '../../core/query-outline.ts'
import type { Row, SqlStatement, Value } from '../../core/statement.ts'
import type { ExpectedRows } from '../../dialects/declared.ts'

declare const gives: unique symbol

/** A statement that is known before its transaction begins. */
export interface DeclaredStatement<R = Row> {
  /** One SELECT, INSERT, UPDATE, DELETE, MERGE, REPLACE or VALUES, with the placeholders of the driver. */
  readonly sql: string
  /** The values of its placeholders, in their order. */
  readonly params?: readonly unknown[]
  /** What `pg` calls them, which is refused: they would not be sent. */
  readonly values?: never
  /** What has to be so. Otherwise all of it is rolled back, and the call gives `undefined`. */
  readonly expect?: RowGuard
  /** Only a type: that of the rows it gives. */
  readonly [gives]?: R
}

/** How many rows a statement has to give, or to change where it gives none. */
export type RowGuard =
  | { readonly rows: number; readonly atLeast?: never }
  | { readonly atLeast: number; readonly rows?: never }

/** What each of the statements gives: its rows. */
export type DeclaredResults<S extends readonly DeclaredStatement<unknown>[]> = {
  readonly [Index in keyof S]: S[Index] extends DeclaredStatement<infer R>
    ? readonly (unknown extends R ? Row : R)[]
    : never
}

/** What a batch gives: nothing where it may be that an expectation was not met. */
export type BatchResult<S extends readonly DeclaredStatement<unknown>[]> = S[number] extends {
  readonly sql: string
  readonly expect?: undefined
}
  ? DeclaredResults<S>
  : DeclaredResults<S> | undefined

/**
 * A statement for `locks.batch`, with the type of its rows.
 *
 * @example
 * const left = statement<{ left: number }>('SELECT 3 AS left')
 * left.sql // => 'SELECT 3 AS left'
 */
export function statement<R = Row>(
  sql: string,
  params: readonly unknown[] = [],
): Omit<DeclaredStatement<R>, 'expect'> {
  return { sql, params }
}

/** A statement that has been looked at. */
export interface CheckedStatement extends SqlStatement {
  readonly expected: ExpectedRows | undefined
  /** Whether it gives rows: the others say only how many they have changed. */
  readonly returns: boolean
  readonly hasWith: boolean
}

const fields = ['sql', 'params', 'expect']
const guardFields = ['rows', 'atLeast']

export function checkStatements(given: unknown): readonly CheckedStatement[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new LockUsageError('statements', 'is no list with a statement in it: pass [{ sql, params }]')
  // what has holes has no element there that map would look at
  return Array.from(given as unknown[], (one, index) => checkStatement(one, `statements[${index}]`))
}

/** What a text does, as far as it matters here. */
interface Reading {
  readonly returns: boolean
  readonly hasWith: boolean
}

/** Texts that were looked at: an application has few, and sends them again and again. */
const seen = new Map<string, Reading>()

function checkStatement(given: unknown, field: string): CheckedStatement {
  onlyKnown(given as object, fields, field)
  const { sql, params = [], expect } = given as Partial<DeclaredStatement>
  if (typeof sql !== 'string') throw new LockUsageError(`${field}.sql`, `${show(sql)} is not a text`)
  if (!Array.isArray(params))
    throw new LockUsageError(`${field}.params`, `${show(params)} is not a list: pass one, as in [7]`)
  const text = sql.replace(/;\s*$/, '')
  const reading = seen.get(text) ?? read(text, `${field}.sql`)
  if (seen.size < 500) seen.set(text, reading)
  const expected = expect === undefined ? undefined : checkGuard(expect, `${field}.expect`)
  return { sql: text, params: params as readonly Value[], expected, ...reading }
}

const verbs = ['select', 'insert', 'update', 'delete', 'merge', 'replace', 'values']

/** A word in front of which stand WITH and its queries, whatever these are called. */
const query = String.raw`\S+ (?:\(\) )?as (?:(?:not )?materialized )?\(\)`
const behindWith = new RegExp(`^with (?:recursive )?${query}(?: , ${query})* (\\w+)`)

/** A character that begins a comment on MySQL, and is an operator on PostgreSQL. */
const ambiguous = /#(?![>-])/
const quoted = /'(?:[^'\\]|'')*'|"(?:[^"\\]|"")*"|`[^`]*`/g

const returning = /\breturning (?![=,)]|\. (?!\d))|\boutput (?:inserted|deleted|\$action)\b/

/** Reads what the statement does. Throws of one that could end its transaction, or be another than it seems. */
function read(sql: string, field: string): Reading {
  const top = ambiguous.test(sql.replaceAll(quoted, '')) ? undefined : outlineOf(sql)?.top
  if (top === undefined)
    throw new LockUsageError(
      field,
      'cannot be read for certain: put what is in quotes into params, and leave out # and comments that hold others',
    )
  if (top.includes(';'))
    throw new LockUsageError(field, 'must be one statement: each has a place of its own in the list')
  const level = top.join(' ')
  const hasWith = top[0] === 'with'
  const verb = (hasWith ? behindWith.exec(level)?.[1] : top[0]) ?? ''
  if (!verbs.includes(verb))
    throw new LockUsageError(
      field,
      `is none of ${verbs.map((word) => word.toUpperCase()).join(', ')}: run it in withLock`,
    )
  if (verb === 'select' && top.includes('into'))
    throw new LockUsageError(field, 'makes a table or a file of what it reads: run it in withLock')
  return { returns: verb === 'select' || verb === 'values' || returning.test(level), hasWith }
}

function checkGuard(guard: RowGuard, field: string): ExpectedRows {
  onlyKnown(guard, guardFields, field)
  const { rows, atLeast } = guard as { readonly rows?: unknown; readonly atLeast?: unknown }
  const count = rows ?? atLeast
  if ((rows === undefined) === (atLeast === undefined) || !isCount(count))
    throw new LockUsageError(
      field,
      'is neither { rows: 1 } nor { atLeast: 1 }: pass one of them, with a whole number from 0 up',
    )
  return { least: count, most: rows === undefined ? Infinity : count }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
