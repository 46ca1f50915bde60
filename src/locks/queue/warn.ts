import { show } from '../../core/check-field.ts'
import { performance } from '../../core/clock.ts'
import type { TableName } from '../../core/request.ts'
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
    if (job !== undefined) return warn(`${nameOf(job, queue)} failed: ${String(error)}`, error)
    const text = `looking for jobs in ${textOfTable(queue.shape.table)} failed: ${String(error)}`
    const now = performance.now()
    if (text === last.text && now < last.until) return void (last.more += 1)
    const more = text === last.text && last.more > 0 ? ` (and ${last.more} times since the last warning)` : ''
    last = { text, until: now + againAfterMs, more: 0 }
    warn(`${text}${more}`, error)
  }
}

/** A listener that fails must not hide what it was to be told of. */
export function warnOfListener<R extends object>(
  queue: Queue<R>,
  { thrown, error, job }: { readonly thrown: unknown; readonly error: unknown; readonly job: Job<R> },
): void {
  warnOf(queue)(error, job)
  warn(`onError failed for ${nameOf(job, queue)}: ${String(thrown)}`, thrown)
}

/** `job 7 of mail, attempt 2 of 5`. */
function nameOf<R extends object>({ id, attempts }: Job<R>, { shape }: Queue<R>): string {
  const most = shape.maxAttempts === undefined ? '' : ` of ${shape.maxAttempts}`
  const attempt = attempts === undefined ? '' : `, attempt ${attempts}${most},`
  return `job ${show(id)} of ${textOfTable(shape.table)}${attempt}`
}

/** Printed with the stack of what was thrown, and `cause` is that itself. */
function warn(message: string, cause: unknown): void {
  const warning = Object.assign(new Error(message, { cause }), { name: 'HoldfastWarning' })
  const stack = cause instanceof Error ? cause.stack : undefined
  process.emitWarning(stack === undefined ? warning : Object.assign(warning, { detail: stack }))
}
