import { checkName, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Row, Value } from '../../core/statement.ts'
import type { QueueTable } from '../../dialects/claim.ts'
import type { EnqueueStatements, NewRows } from '../../dialects/enqueue.ts'
import { checkValue } from './check-queue.ts'
import type { Queue, QueueColumn } from './queue-definition.ts'

/**
 * A job that is to be stored: values for columns of its row. In SQL, what JavaScript keeps as an object is passed as
 * text, such as JSON.
 */
export type NewJob<R extends object = Row> = {
  readonly [C in QueueColumn<R>]?: C extends keyof R ? (R[C] extends Value ? R[C] : R[C] | string) : unknown
}

/** Below the number of parameters that any engine takes. */
const maxParams = 2000

/** Below the number of rows that any engine takes. */
const maxRows = 1000

/** The jobs in their order, in as few statements as their columns allow. One whose key came before is left out. */
export function newRowsOf({ shape }: Queue<object>, jobs: readonly Row[]): readonly NewRows[] {
  const groups: (NewRows & { readonly rows: (readonly unknown[])[] })[] = []
  const keys = new Set<string>()
  for (const [index, given] of jobs.entries()) {
    const job = checkJob(shape, given, jobs.length === 1 ? 'job' : `jobs[${index}]`)
    const key = (shape.unique === undefined ? null : (job[shape.unique] ?? null)) as string | number | null
    const text = `${typeof key} ${String(key)}`
    if (key !== null && keys.has(text)) continue
    keys.add(text)
    const columns = Object.keys(job)
    const last = groups.at(-1)
    const fits = last !== undefined && last.rows.length < Math.min(maxRows, maxParams / columns.length)
    if (fits && last.isUnique === (key !== null) && isSame(last.columns, columns)) {
      last.rows.push(Object.values(job))
    } else groups.push({ columns, rows: [Object.values(job)], isUnique: key !== null })
  }
  return groups
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((column, index) => column === b[index])
}

/** The row as it is sent, its columns in one order. Those that make it a job of the queue are filled in. */
function checkJob(shape: QueueTable, job: Row, field: string): Row {
  if (!isJob(job))
    throw new LockUsageError(field, `${show(job)} is not a job: pass an object with the columns of its row`)
  const fixed = shape.where.filter(({ values }) => values.length === 1)
  const filled: Row = {
    ...Object.fromEntries(fixed.map(({ column, values }) => [column, values[0]])),
    ...Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined)),
  }
  const columns = Object.entries(filled)
    .map(([column, value]) => [column, checkColumn(shape, { field, column, value })] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (columns.length === 0) throw new LockUsageError(field, 'has no column')
  return Object.fromEntries(columns)
}

/** A promise, a set or a map has no columns either, and would be stored as a job without any of its own. */
function isJob(job: unknown): boolean {
  if (typeof job !== 'object' || job === null || Array.isArray(job)) return false
  const kind: unknown = Object.getPrototypeOf(job)
  return Object.keys(job).length > 0 || kind === Object.prototype || kind === null
}

interface Given {
  readonly field: string
  readonly column: string
  readonly value: unknown
}

/** The value as it is stored. */
function checkColumn(shape: QueueTable, given: Given): unknown {
  const { token, until, worker, unique, attempts, maxAttempts } = shape
  const { column, value } = given
  const field = `${given.field}.${checkName(given.field, column)}`
  if (column === token || column === until || column === worker)
    throw new LockUsageError(field, 'is set by claims: a new job is free')
  if (column === unique) checkKey(field, value)
  if (column === attempts && maxAttempts !== undefined && Number(value) >= maxAttempts)
    throw new LockUsageError(field, `${show(value)} attempts are all that it has: nobody would claim it`)
  const values = shape.where.find((condition) => condition.column === column)?.values
  if (values === undefined) return value
  // the queue's own value: where types count, claims find no other
  const met = values.find((one) => one === value || (one !== null && String(one) === String(value)))
  if (met !== undefined) return met
  throw new LockUsageError(field, `${show(value)} is not what the queue looks for: nobody would claim it`)
}

/** Two numbers that JavaScript rounds to one would be the same job. */
function checkKey(field: string, key: unknown): void {
  if (key === null || typeof key === 'string' || typeof key === 'bigint' || Number.isSafeInteger(key)) return
  throw new LockUsageError(
    field,
    `${show(key)} is not a text or a whole number that JavaScript holds exactly: pass a text or a bigint`,
  )
}

/** As the engine takes them: SQL has plain values only. */
export function sendable(
  { takesAnything, keysAsText, needsId }: EnqueueStatements,
  { shape }: Queue<object>,
  groups: readonly NewRows[],
): readonly NewRows[] {
  if (needsId?.(shape) === true && !groups.every(({ columns }) => columns.includes(shape.id)))
    throw new LockUsageError(
      `job.${shape.id}`,
      'is missing, and nobody fills it in: the job could not be ended',
    )
  if (takesAnything === true) return groups
  return groups.map((group) => {
    const at = group.isUnique && keysAsText === true ? group.columns.indexOf(shape.unique ?? '') : -1
    const send = (value: unknown, index: number): Value => {
      const checked = checkValue(`job.${group.columns[index]}`, value)
      return index === at ? String(checked) : checked
    }
    return { ...group, rows: group.rows.map((row) => row.map(send)) }
  })
}
