import { LockUsageError } from '../../core/errors.ts'
import type { OpenTransaction } from '../port.ts'

/**
 * Does what changes the connection, which has to be put back at the transaction's end. Where that comes first, because
 * nobody waited, the session must not go to anybody else.
 */
export async function beforeItsEnd<T>(
  { onLeave, doubt }: OpenTransaction<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  if (onLeave === undefined) throw new LockUsageError('tx', 'the transaction has ended')
  const left = (): void => doubt(new Error('the transaction ended while a lock of it was being taken'))
  onLeave.push(left)
  try {
    return await work()
  } finally {
    onLeave.splice(onLeave.indexOf(left), 1)
  }
}
