import { show } from '../../core/check-field.ts'
import { performance } from '../../core/clock.ts'
import { inWords } from '../../core/in-words.ts'
import type { TableName } from '../../core/request.ts'
import { quietly } from '../../core/unwrap.ts'
import { tell } from '../tell.ts'
import type { Job } from './job.ts'
import type { Queue } from './queue-definition.ts'

/** As people write it. */
export function textOfTable(table: TableName): string {
  return typeof table === 'string' ? table : table.join('.')
}

/** How often the same is said of looking for jobs: while a database is down, every look fails. */
const againAfterMs = 60_000

/** What a worker says when nobody listens to its errors: which job of which queue, and where it failed. */
export function warnOf<R extends object>(queue: Queue<R>): (error: unknown, job?: Job<R>) => void {
  let last = { text: '', until: -Infinity, more: 0 }
  return (error, job) => {
    const text = `${subjectOf(queue, job, ',')} failed: ${inWords(error)}`
    if (job !== undefined) return warn(text, error)
    const now = performance.now()
    if (text === last.text && now < last.until) return void (last.more += 1)
    const more = text === last.text && last.more > 0 ? ` (and ${last.more} times since the last warning)` : ''
    last = { text, until: now + againAfterMs, more: 0 }
    warn(`${text}${more}`, error)
  }
}

/** A listener that fails ends nothing, and must not hide what it was to be told of. */
export function listenerOf<R extends object>(
  queue: Queue<R>,
  onError: (error: unknown, job?: Job<R>) => unknown,
): (error: unknown, job?: Job<R>) => void {
  return (error, job) =>
    tell(
      () => onError(error, job),
      (thrown) => {
        warnOf(queue)(error, job)
        warn(`onError failed for ${subjectOf(queue, job)}: ${inWords(thrown)}`, thrown)
      },
    )
}

/** `job 7 of mail, attempt 2 of 5`. */
function subjectOf<R extends object>({ shape }: Queue<R>, job: Job<R> | undefined, comma = ''): string {
  const table = textOfTable(shape.table)
  if (job === undefined) return `looking for jobs in ${table}`
  const { id, attempts } = job
  const most = shape.maxAttempts === undefined ? '' : ` of ${shape.maxAttempts}`
  const attempt = attempts === undefined ? '' : `, attempt ${attempts}${most}${comma}`
  return `job ${show(id)} of ${table}${attempt}`
}

/** Printed with the stack of what was thrown, and `cause` is that itself. */
function warn(message: string, cause: unknown): void {
  const warning = Object.assign(new Error(message, { cause }), { name: 'HoldfastWarning' })
  const stack = quietly(() => (cause instanceof Error ? cause.stack : undefined))
  process.emitWarning(stack === undefined ? warning : Object.assign(warning, { detail: stack }))
}
