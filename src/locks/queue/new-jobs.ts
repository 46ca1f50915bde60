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
  if (typeof job !== 'object' || job === null || Array.isArray(job))
    throw new LockUsageError(field, `${show(job)} is not a job: pass an object with the columns of its row`)
  const fixed = shape.where.filter(({ values: [first], values }) => values.length === 1 && first !== null)
  const filled: Row = {
    ...Object.fromEntries(fixed.map(({ column, values }) => [column, values[0]])),
    ...Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined)),
  }
  for (const [column, value] of Object.entries(filled)) checkColumn(shape, { field, column, value })
  if (Object.keys(filled).length === 0) throw new LockUsageError(field, 'has no column')
  return Object.fromEntries(Object.entries(filled).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

interface Given {
  readonly field: string
  readonly column: string
  readonly value: unknown
}

function checkColumn({ where, token, until, worker, unique }: QueueTable, given: Given): void {
  const { column, value } = given
  const field = `${given.field}.${checkName(given.field, column)}`
  if (column === token || column === until || column === worker)
    throw new LockUsageError(field, 'is set by claims: a new job is free')
  if (column === unique && value !== null && !['string', 'number', 'bigint'].includes(typeof value))
    throw new LockUsageError(field, `${show(value)} is not a text or a number by which jobs are the same`)
  const values = where.find((condition) => condition.column === column)?.values
  const isMet = values?.some((one) => one === value || (one !== null && String(one) === String(value)))
  if (isMet === false)
    throw new LockUsageError(field, `${show(value)} is not what the queue looks for: nobody would claim it`)
}

/** SQL takes plain values only. */
export function mustBeSendable({ takesAnything }: EnqueueStatements, groups: readonly NewRows[]): void {
  if (takesAnything === true) return
  for (const { columns, rows } of groups)
    for (const row of rows) for (const [at, value] of row.entries()) checkValue(`job.${columns[at]}`, value)
}
