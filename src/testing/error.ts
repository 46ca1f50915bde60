import type { ErrorMeaning, ErrorTable } from '../core/classification.ts'

type MemoryCode =
  | 'MEMORY_DEADLOCK'
  | 'MEMORY_SERIALIZATION'
  | 'MEMORY_LOCK_TIMEOUT'
  | 'MEMORY_UNIQUE'
  | 'MEMORY_READ_ONLY'
  | 'MEMORY_CONNECTION_LOST'

/** What goes wrong in memory, as a database would say it. */
const meanings: Readonly<Record<MemoryCode, ErrorMeaning>> = {
  MEMORY_DEADLOCK: { kind: 'deadlock', transaction: 'rolled-back' },
  MEMORY_SERIALIZATION: { kind: 'serialization', transaction: 'rolled-back' },
  MEMORY_LOCK_TIMEOUT: { kind: 'lock-timeout', transaction: 'open' },
  MEMORY_UNIQUE: { kind: 'unique-violation', transaction: 'open' },
  MEMORY_READ_ONLY: { kind: 'other', transaction: 'open' },
  MEMORY_CONNECTION_LOST: { kind: 'connection-lost', transaction: 'unknown' },
}

/** Stands where the error of a driver stands: it is the `cause` of what the caller sees. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError'
  readonly code: MemoryCode

  constructor(code: MemoryCode, message: string) {
    super(message)
    this.code = code
  }
}

export function connectionLost(): MemoryError {
  return new MemoryError('MEMORY_CONNECTION_LOST', 'the connection was lost')
}

export function deadlock(): MemoryError {
  return new MemoryError('MEMORY_DEADLOCK', 'deadlock: the wait would have closed a circle')
}

export function outOfOrder(): MemoryError {
  return new MemoryError(
    'MEMORY_SERIALIZATION',
    'serialization failure: another transaction has changed what this one has read',
  )
}

/** Whether nothing is left of the transaction in which it happened. */
export function endsTransaction(error: unknown): boolean {
  return error instanceof MemoryError && meanings[error.code].transaction !== 'open'
}

export const errors: ErrorTable = {
  codeOf: (error) => (error instanceof MemoryError ? error.code : undefined),
  codes: meanings,
  otherwise: 'open',
}
