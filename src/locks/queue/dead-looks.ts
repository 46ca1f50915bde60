import type { Changes, QueueCondition } from '../../dialects/claim.ts'
import type { Queue } from './queue-definition.ts'

type Ends = Pick<Queue<object>, 'shape' | 'done'>

/**
 * How the dead letters of a queue look: as `where` says, but for the columns of it that `set` has changed.
 *
 * What `set` writes into other columns is asked for only where nothing else tells them from jobs that are done: such a
 * column may have been edited since, or be of a type that cannot be compared.
 */
export function looksOfDead(ends: Ends, set: Changes): readonly QueueCondition[] {
  const { where } = ends.shape
  const look = (column: string): QueueCondition => ({ column, values: [set[column] ?? null] })
  const kept = where.map((one) => (Object.hasOwn(set, one.column) ? look(one.column) : one))
  const differs = (one: QueueCondition): boolean => isOfDone(one, ends) === false
  if (kept.some(differs)) return kept
  const others = Object.keys(set)
    .filter((column) => where.every((one) => one.column !== column))
    .map(look)
  return [...kept, ...(others.some(differs) ? others.filter(differs) : others)]
}

/** Whether a job that is done looks as a dead letter does. */
export function isDeadAsDone(ends: Ends, set: Changes): boolean {
  return looksOfDead(ends, set).every((one) => isOfDone(one, ends) === true)
}

/** Whether a job that is done meets the condition, or can. Undefined where nothing is known of the column. */
function isOfDone({ column, values }: QueueCondition, { shape, done }: Ends): boolean | undefined {
  if (done === 'delete') return false
  const known = Object.hasOwn(done, column)
    ? [done[column] ?? null]
    : shape.where.find((one) => one.column === column)?.values
  return known?.some((one) => values.includes(one))
}
