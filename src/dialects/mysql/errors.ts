import {
  driverWords,
  variant,
  type ErrorLike,
  type ErrorMeaning,
  type ErrorTable,
} from '../../core/classification.ts'

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }
const duplicate: ErrorMeaning = { kind: 'unique-violation', transaction: 'open' }

/**
 * The codes of MySQL and of MariaDB: the two share a protocol and a driver, and where they share a number they mean the
 * same by it. https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
 */
const protocolCodes: Readonly<Record<string, ErrorMeaning>> = {
  // InnoDB rows, metadata locks, and Galera's certification, which can arrive with any statement and with COMMIT.
  '1213': { kind: 'deadlock', transaction: 'rolled-back' },
  // MariaDB has no code of its own for a deadlock between named locks, and leaves the transaction open after it.
  [variant('1213', 'GET_LOCK')]: { kind: 'deadlock', transaction: 'open' },
  // MySQL's code for the same.
  '3058': { kind: 'deadlock', transaction: 'open' },
  // Only the statement is undone, unless the server runs with innodb_rollback_on_timeout. MariaDB says it for NOWAIT too.
  '1205': { kind: 'lock-timeout', transaction: 'open' },
  '3572': { kind: 'lock-not-available', transaction: 'open' },
  // MariaDB with innodb_snapshot_isolation: the row has changed since the snapshot.
  '1020': { kind: 'serialization', transaction: 'rolled-back' },
  // Group Replication refuses a COMMIT: with the storage engine's number for a deadlock, or by its own hook.
  '1180': { kind: 'other', transaction: 'rolled-back' },
  [variant('1180', '149')]: { kind: 'serialization', transaction: 'rolled-back' },
  '3101': { kind: 'serialization', transaction: 'rolled-back' },
  // The server has left its group while COMMIT waited there: nothing says that the others do not have it.
  [variant('3100', 'before_commit')]: { kind: 'commit-unknown', transaction: 'unknown' },
  '1206': { kind: 'too-many-locks', transaction: 'rolled-back' },
  '1022': duplicate,
  '1062': duplicate,
  '1169': duplicate,
  '1586': duplicate,
  // KILL QUERY, max_execution_time (MySQL), max_statement_time (MariaDB)
  '1317': { kind: 'cancelled', transaction: 'open' },
  '3024': { kind: 'cancelled', transaction: 'open' },
  '1969': { kind: 'cancelled', transaction: 'open' },
  // mysql2's `timeout` stops listening; the server goes on and may still take the lock.
  PROTOCOL_SEQUENCE_TIMEOUT: { kind: 'cancelled', transaction: 'unknown' },
  // Shutdown, killed (MariaDB, MySQL), idle for too long.
  '1053': lost,
  '1927': lost,
  '3169': lost,
  '4031': lost,
  // The C client's numbers for a connection that is gone.
  '2006': lost,
  '2013': lost,
  PROTOCOL_CONNECTION_LOST: lost,
  // MariaDB's connector: destroyed, closed by the server, an answer that nobody asked for, no connection in time, closed
  // before, a socket that is silent for too long, a ping without an answer.
  '45004': lost,
  '45009': lost,
  '45011': lost,
  '45012': lost,
  '45013': lost,
  '45026': lost,
  '45042': lost,
  // mysql2 3.24 gives no code for this.
  "Can't add new command when connection is in closed state": lost,
}

export const errors: ErrorTable = { codeOf: protocolCode, codes: protocolCodes, otherwise: 'open' }

/** The server's number, the driver's own code, or its words. */
function protocolCode(error: ErrorLike, isTold: boolean): string | undefined {
  const number = serverNumber(error, isTold)
  if (number === undefined) return ownCode(error)
  const detail = detailOf(number, error)
  return detail === undefined ? number : variant(number, detail)
}

function serverNumber(error: ErrorLike, isTold: boolean): string | undefined {
  const { errno, code, originalCode } = error
  // Node's own errors have a negative `errno`, and an SQLSTATE only from MariaDB's connector.
  if (typeof errno === 'number' && errno > 0 && typeof error.sqlState === 'string') return String(errno)
  // mysql2 puts the number of an error that nobody asked for, as of an idle session's end, into `code`.
  if (typeof code === 'number' && (error.fatal === true || isTold)) return String(code)
  // Prisma's adapter, up to 7, keeps the number under another name.
  if (isNumber(originalCode) && typeof error.originalMessage === 'string') return originalCode
  // Prisma's own engine, up to 6: SQL Server has a 1205 too, so the number alone is not enough.
  return isTold && isNumber(code) ? code : undefined
}

function isNumber(code: unknown): code is string {
  return typeof code === 'string' && /^\d{4,5}$/.test(code)
}

/** What the number alone does not tell. */
function detailOf(number: string, { sql, message }: ErrorLike): string | undefined {
  if (number === '1213' && typeof sql === 'string' && /\bget_lock\s*\(/i.test(sql)) return 'GET_LOCK'
  // "Got error 149 - ..." in every language: the number is the storage engine's own code.
  if (number === '1180' && typeof message === 'string' && /\b149\b/.test(message)) return '149'
  // the name of the hook, in every language too: there are others, for other statements
  if (number === '3100' && typeof message === 'string' && message.includes('before_commit'))
    return 'before_commit'
  return undefined
}

function ownCode(error: ErrorLike): string | undefined {
  const { code, fatal } = error
  if (typeof code === 'string') return code.startsWith('PROTOCOL_') ? code : undefined
  const said = fatal === true ? driverWords(error) : undefined
  return said?.includes(' ') === true && Object.hasOwn(protocolCodes, said) ? said : undefined
}
