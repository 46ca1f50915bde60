import type { AttestOptions, QueueIndex } from '../../core/attestation.ts'
import { checkSignal, onlyKnown } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'

export interface CheckedAttest {
  readonly queues: readonly QueueIndex[]
  readonly signal: AbortSignal | undefined
}

/** Checks the options at the door; the mistake is a {@link LockUsageError} that names the field. */
export function checkAttest(options: AttestOptions): CheckedAttest {
  onlyKnown(options, ['queues', 'signal'])
  const { queues = [], signal } = options
  checkSignal(signal)
  signal?.throwIfAborted()
  if (!Array.isArray(queues)) throw new LockUsageError('queues', 'must be a list of { table, columns }')
  for (const [place, queue] of queues.entries()) checkQueue(`queues[${place}]`, queue as Partial<QueueIndex>)
  return { queues, signal }
}

function checkQueue(field: string, { table, columns }: Partial<QueueIndex>): void {
  if (!isName(table)) throw new LockUsageError(`${field}.table`, 'must be the name of a table')
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every(isName))
    throw new LockUsageError(`${field}.columns`, 'must be the names of one column or more')
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}
