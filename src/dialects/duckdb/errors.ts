import type { ErrorLike, ErrorMeaning, ErrorTable } from '../../core/classification.ts'

const conflict: ErrorMeaning = { kind: 'write-conflict', transaction: 'aborted' }
const harmless: ErrorMeaning = { kind: 'other', transaction: 'open' }
const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }

/**
 * By the words that an error's message starts with.
 *
 * @duckdb/node-api 1.5.6 gives plain errors with a message and nothing else: no class, no code. DuckDB does not
 * translate its messages, and writes the type of the error in front.
 */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  'TransactionContext Error: Conflict on update': conflict,
  'TransactionContext Error: Conflict on tuple deletion': conflict,
  'TransactionContext Error: Transaction conflict': conflict,
  'TransactionContext Error: Catalog write-write conflict': conflict,
  // What shows only at COMMIT has ended the transaction.
  'TransactionContext Error: Failed to commit': { kind: 'other', transaction: 'rolled-back' },
  'TransactionContext Error: Failed to commit: Transaction conflict': {
    kind: 'write-conflict',
    transaction: 'rolled-back',
  },
  // Two transactions have inserted one key, and each saw only its own.
  'TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint violation': {
    kind: 'unique-violation',
    transaction: 'rolled-back',
  },
  // Every statement after the one that failed: the reason was in the first error.
  'TransactionContext Error: Current transaction is aborted': { kind: 'other', transaction: 'aborted' },
  'Constraint Error: Duplicate key': { kind: 'unique-violation', transaction: 'aborted' },
  'Constraint Error: PRIMARY KEY or UNIQUE constraint violation': {
    kind: 'unique-violation',
    transaction: 'aborted',
  },
  'INTERRUPT Error': { kind: 'cancelled', transaction: 'aborted' },
  // Another process has the file open. There is no connection yet, and so nothing to roll back.
  'IO Error: Could not set lock on file': { kind: 'busy', transaction: 'unknown' },
  // The database takes no more statements until it is opened again.
  'FATAL Error': lost,
  'Failed to query: connection disconnected': lost,
  'Failed to prepare: connection disconnected': lost,
  'Failed to extract statements: connection disconnected': lost,
  'Failed to connect: instance closed': lost,
  // Found before the statement has run.
  'Parser Error': harmless,
  'Binder Error': harmless,
  'Catalog Error': harmless,
}

// of several that fit, the longest says most
const keys = Object.keys(codes).toSorted((a, b) => b.length - a.length)

const otherTypes =
  /^(?:TransactionContext|Constraint|Conversion|IO|Invalid Input|Out of Range|Out of Memory|INTERNAL|Not implemented) Error(?=: )/

export const errors: ErrorTable = { codeOf, codes, otherwise: 'aborted' }

function codeOf({ name, code, message }: ErrorLike): string | undefined {
  if (name !== 'Error' || code !== undefined || typeof message !== 'string') return undefined
  // the driver puts its own words in front of the database's
  const text = message.replace(/^Failed to [a-z ]+: (?=[^:]+ Error: )/, '')
  return keys.find((words) => text.startsWith(words)) ?? otherTypes.exec(text)?.[0]
}
