import { checkDuration } from '../../core/check-field.ts'
import type { Row } from '../../core/statement.ts'
import { checkQueue } from './check-queue.ts'
import type { Queue, QueueDefinition } from './queue-definition.ts'

/**
 * Describes a table of yours as a queue. Nothing is sent: a mistake in the description is a {@link LockUsageError} that
 * names the field, a column that the table lacks shows with the first claim.
 */
export function queue<R extends object = Row>(definition: QueueDefinition<NoInfer<R>>): Queue<R> {
  const { shape, done, dead } = checkQueue(definition as unknown as QueueDefinition)
  const visibilityMs = checkDuration('visibilityMs', definition.visibilityMs ?? 30_000)
  return { shape, done, ...(dead && { dead }), visibilityMs }
}

/** Every column that the description names. */
export function columnsOf({ shape, done, dead }: Queue<object>): readonly string[] {
  const { id, order, where, token, until, worker, attempts, unique } = shape
  const columns = [
    id,
    ...order.map(({ column }) => column),
    ...where.map(({ column }) => column),
    token,
    until,
    worker,
    attempts,
    unique,
    ...Object.keys(done === 'delete' ? {} : done),
    ...Object.keys(dead ?? {}),
  ]
  return [...new Set(columns.filter((column) => column !== undefined))]
}
