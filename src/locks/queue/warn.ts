import { show } from '../../core/check-field.ts'
import type { TableName } from '../../core/request.ts'
import type { Job } from './job.ts'
import type { Queue } from './queue-definition.ts'

/** As people write it. */
export function textOfTable(table: TableName): string {
  return typeof table === 'string' ? table : table.join('.')
}

/** What a worker says when nobody listens to its errors: which job of which queue, and where it failed. */
export function warnOf<R extends object>(queue: Queue<R>): (error: unknown, job?: Job<R>) => void {
  return (error, job) => {
    const subject =
      job === undefined ? `looking for jobs in ${textOfTable(queue.shape.table)}` : nameOf(job, queue)
    warn(`${subject} failed: ${String(error)}`, error)
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
