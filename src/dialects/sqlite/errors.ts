import { driverWords, type ErrorLike, type ErrorMeaning, type ErrorTable } from '../../core/classification.ts'

const busy: ErrorMeaning = { kind: 'busy', transaction: 'open' }
// SQLite may have rolled all of it back by itself: https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
const maybeRolledBack: ErrorMeaning = { kind: 'other', transaction: 'unknown' }
// The default conflict resolution, ABORT, undoes the statement; ON CONFLICT ROLLBACK is the table owner's choice.
const duplicate: ErrorMeaning = { kind: 'unique-violation', transaction: 'open' }

/** https://www.sqlite.org/rescode.html */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  SQLITE_BUSY: busy,
  SQLITE_BUSY_RECOVERY: busy,
  SQLITE_BUSY_TIMEOUT: busy,
  // The snapshot that was read is no longer the newest, so no waiting helps: the transaction must read again.
  SQLITE_BUSY_SNAPSHOT: { kind: 'serialization', transaction: 'open' },
  SQLITE_LOCKED: busy,
  SQLITE_LOCKED_SHAREDCACHE: busy,
  SQLITE_LOCKED_VTAB: busy,
  // A race for the locks of the write-ahead log, lost too often in a row.
  SQLITE_PROTOCOL: busy,
  SQLITE_CONSTRAINT_UNIQUE: duplicate,
  SQLITE_CONSTRAINT_PRIMARYKEY: duplicate,
  SQLITE_CONSTRAINT_ROWID: duplicate,
  SQLITE_INTERRUPT: { kind: 'cancelled', transaction: 'unknown' },
  SQLITE_FULL: maybeRolledBack,
  SQLITE_IOERR: maybeRolledBack,
  SQLITE_NOMEM: maybeRolledBack,
  // better-sqlite3 12 throws a TypeError with these words on a handle that was closed.
  'The database connection is not open': { kind: 'connection-lost', transaction: 'unknown' },
  // node:sqlite of Node 22 and 24, with a code that says as little.
  'database is not open': { kind: 'connection-lost', transaction: 'unknown' },
}

/** The numbers of those codes, for drivers that give only the number. */
const numbers: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  9: 'SQLITE_INTERRUPT',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  15: 'SQLITE_PROTOCOL',
  261: 'SQLITE_BUSY_RECOVERY',
  262: 'SQLITE_LOCKED_SHAREDCACHE',
  517: 'SQLITE_BUSY_SNAPSHOT',
  518: 'SQLITE_LOCKED_VTAB',
  773: 'SQLITE_BUSY_TIMEOUT',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
  2579: 'SQLITE_CONSTRAINT_ROWID',
}

export const errors: ErrorTable = { codeOf, codes, otherwise: 'open' }

function codeOf(error: ErrorLike): string | undefined {
  const { code, originalCode } = error
  // Prisma's adapter keeps the code under another name, node:sqlite and Prisma's other adapters give the number.
  for (const name of [code, originalCode]) {
    if (typeof name === 'string' && name.startsWith('SQLITE_')) return familyOf(name)
  }
  const number =
    code === 'ERR_SQLITE_ERROR' ? error.errcode : error.kind === 'sqlite' ? error.extendedCode : undefined
  if (typeof number === 'number') return nameOf(number)
  const said = code === undefined || code === 'ERR_INVALID_STATE' ? driverWords(error) : undefined
  return said?.includes(' ') === true && Object.hasOwn(codes, said) ? said : undefined
}

/** An extended code of which only the family is listed, as SQLITE_IOERR_WRITE, stands for its family. */
function familyOf(name: string): string {
  if (Object.hasOwn(codes, name)) return name
  const family = name.split('_', 2).join('_')
  return Object.hasOwn(codes, family) ? family : name
}

/** The low byte of an extended code is its family. */
function nameOf(number: number): string {
  return numbers[number] ?? numbers[number & 0xff] ?? `SQLITE_${number}`
}
