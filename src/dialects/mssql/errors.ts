import { variant, type ErrorLike, type ErrorMeaning, type ErrorTable } from '../../core/classification.ts'

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }
const stale: ErrorMeaning = { kind: 'serialization', transaction: 'rolled-back' }
const FATAL = 'severity 20 and above'

/** https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  '1205': { kind: 'deadlock', transaction: 'rolled-back' },
  // LOCK_TIMEOUT 0 and the NOWAIT hint give it as well. XACT_ABORT is off unless asked for.
  '1222': { kind: 'lock-timeout', transaction: 'open' },
  '1204': { kind: 'too-many-locks', transaction: 'unknown' },
  // Snapshot isolation: the row has changed since the snapshot; the version store has dropped the old row.
  '3960': stale,
  '3966': stale,
  // The table has changed since the snapshot: Microsoft's remedy is another isolation level, not another try.
  '3961': { kind: 'other', transaction: 'unknown' },
  // Memory-optimized tables. These doom the transaction, and the end of a batch rolls a doomed one back.
  '41302': { kind: 'write-conflict', transaction: 'rolled-back' },
  '41301': stale,
  '41305': stale,
  '41325': stale,
  '41839': stale,
  '2601': { kind: 'unique-violation', transaction: 'open' },
  '2627': { kind: 'unique-violation', transaction: 'open' },
  // COMMIT or ROLLBACK without a transaction; one that cannot go on; one that was doomed; one that is gone.
  '3902': { kind: 'other', transaction: 'rolled-back' },
  '3903': { kind: 'other', transaction: 'rolled-back' },
  '3930': { kind: 'other', transaction: 'aborted' },
  '3971': { kind: 'other', transaction: 'rolled-back' },
  '3998': { kind: 'other', transaction: 'rolled-back' },
  // The network, as the server's side reports it.
  '10053': lost,
  '10054': lost,
  '10060': lost,
  // Azure SQL: limits reached, failing over, too busy, not available, out of resources.
  '10928': lost,
  '10929': lost,
  '40197': lost,
  '40501': lost,
  '40613': lost,
  '49918': lost,
  '49919': lost,
  '49920': lost,
  // The server ends the connection with such an error, whatever its number.
  [FATAL]: lost,
  // tedious 19 and mssql 12: their own codes.
  ESOCKET: lost,
  ECLOSE: lost,
  ECONNCLOSED: lost,
  ENOTOPEN: lost,
  [variant('ETIMEOUT', 'ConnectionError')]: lost,
  // The request's time is over. The driver asks the server to stop, which may have done the work by then.
  ETIMEOUT: { kind: 'cancelled', transaction: 'unknown' },
  ECANCEL: { kind: 'cancelled', transaction: 'unknown' },
  // mssql has seen the server end the transaction; why is in the error inside, if anywhere.
  EABORT: { kind: 'other', transaction: 'rolled-back' },
}

const classes = [
  'RequestError',
  'ConnectionError',
  'TransactionError',
  'PreparedStatementError',
  'MSSQLError',
]

export const errors: ErrorTable = { codeOf, codes, otherwise: 'open' }

function codeOf(error: ErrorLike, isTold: boolean): string | undefined {
  const number = serverNumber(error, isTold)
  if (number === undefined) return driverCode(error, isTold)
  const isFatal = typeof error.class === 'number' && error.class >= 20 && !Object.hasOwn(codes, number)
  return isFatal ? FATAL : number
}

function serverNumber(error: ErrorLike, isTold: boolean): string | undefined {
  const { number, code, kind } = error
  // Both drivers give the number together with the severity, which they call class.
  if (typeof number === 'number' && (isTold || code === 'EREQUEST' || typeof error.class === 'number'))
    return String(number)
  if (kind === 'mssql' && typeof code === 'number') return String(code) // Prisma's adapter
  // Prisma's own engine, up to 6: MySQL has a 1205 too, so the number alone is not enough.
  return isTold && typeof code === 'string' && /^\d{3,5}$/.test(code) ? code : undefined
}

/** Other libraries have an ESOCKET and an ETIMEOUT as well, so the class must fit. */
function driverCode(error: ErrorLike, isTold: boolean): string | undefined {
  const { code } = error
  if (typeof code !== 'string') return undefined
  const className = classNameOf(error)
  if (!classes.includes(className) && !(isTold && Object.hasOwn(codes, code))) return undefined
  const ofClass = variant(code, className)
  return Object.hasOwn(codes, ofClass) ? ofClass : code
}

/** tedious gives its classes no `name`. */
function classNameOf({ name, constructor }: ErrorLike): string {
  if (typeof name === 'string' && name !== 'Error') return name
  return typeof constructor === 'function' ? constructor.name : ''
}
