import {
  driverWords,
  variant,
  type ErrorLike,
  type ErrorMeaning,
  type ErrorTable,
} from '../../core/classification.ts'

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }
const unreadable: ErrorMeaning = { kind: 'other', transaction: 'aborted' }
const commitUnknown: ErrorMeaning = { kind: 'commit-unknown', transaction: 'unknown' }

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  '40P01': { kind: 'deadlock', transaction: 'aborted' },
  '40001': { kind: 'serialization', transaction: 'aborted' },
  // COMMIT itself found the conflict, and has ended the transaction.
  [variant('40001', 'PreCommit_CheckForSerializationFailure')]: {
    kind: 'serialization',
    transaction: 'rolled-back',
  },
  // One SQLSTATE for NOWAIT and for lock_timeout. The message is translated, the routine that raised it is not: a timeout
  // interrupts the wait, wherever that was. Where the routine is not passed on, and the server does not speak English,
  // both are `lock-not-available`.
  '55P03': { kind: 'lock-not-available', transaction: 'aborted' },
  [variant('55P03', 'ProcessInterrupts')]: { kind: 'lock-timeout', transaction: 'aborted' },
  // The table of locks lives in shared memory and has no code of its own for being full.
  '53200': { kind: 'too-many-locks', transaction: 'aborted' },
  '23505': { kind: 'unique-violation', transaction: 'aborted' },
  // A unique constraint is an exclusion constraint that excludes what is equal: the caller's choices are the same.
  '23P01': { kind: 'unique-violation', transaction: 'aborted' },
  // statement_timeout and pg_cancel_backend alike
  '57014': { kind: 'cancelled', transaction: 'aborted' },
  // Every statement after the one that failed: the reason was in the first error.
  '25P02': { kind: 'other', transaction: 'aborted' },
  '40003': commitUnknown,
  '08007': commitUnknown,
  '08000': lost,
  '08001': lost,
  '08003': lost,
  '08004': lost,
  '08006': lost,
  '08P01': lost,
  // Too few values, or too many, and a text with a NUL character, which ends it for the server: the rest of the message is
  // nothing that it knows. The connection is as good as before.
  [variant('08P01', 'exec_bind_message')]: unreadable,
  [variant('08P01', 'pq_getmsgend')]: unreadable,
  [variant('08P01', 'pq_copymsgbytes')]: unreadable,
  // The server ends the session: idle in a transaction, transaction_timeout, shutdown, crash, start-up, database
  // dropped, idle.
  '25P03': lost,
  '25P04': lost,
  '57P01': lost,
  '57P02': lost,
  '57P03': lost,
  '57P04': lost,
  '57P05': lost,
  // pg 8.23 gives no code when its connection ends, only these words.
  'Connection terminated unexpectedly': lost,
  'Connection terminated': lost,
  'Client has encountered a connection error and is not queryable': lost,
  'Client was closed and is not queryable': lost,
  // postgres.js 3.4 names the ends of its connections itself.
  CONNECTION_CLOSED: lost,
  CONNECTION_DESTROYED: lost,
  CONNECTION_ENDED: lost,
  CONNECT_TIMEOUT: lost,
  // pg's `query_timeout` stops listening; the server goes on and may still take the lock.
  'Query read timeout': { kind: 'cancelled', transaction: 'unknown' },
}

export const errors: ErrorTable = { codeOf, codes, otherwise: 'aborted' }

/** Prisma's adapter for pg (7.10) passes no routine on, only the code and these words. */
const routines: readonly (readonly [string, RegExp])[] = [
  ['ProcessInterrupts', /^canceling statement due to lock timeout$/],
  ['pq_getmsgend', /^(?:bind message supplies|insufficient data left in message$|invalid message format$)/],
]

function codeOf(error: ErrorLike, isTold: boolean): string | undefined {
  const code = sqlState(error, isTold)
  if (code === undefined) return words(error) ?? connectionCode(error)
  const said = error.originalMessage
  const by = typeof said === 'string' ? routines.find(([, told]) => told.test(said))?.[0] : error.routine
  const routine = typeof by === 'string' ? variant(code, by) : code
  return Object.hasOwn(codes, routine) ? routine : code
}

/** A code alone proves little: Node has five-letter codes too (`EPIPE`), and so has Prisma (`P2034`). */
function sqlState(error: ErrorLike, isTold: boolean): string | undefined {
  const { code, originalCode } = error
  // pg, postgres.js and PGlite pass the server's fields on; a code of the user's own making is possible there.
  if (typeof error.severity === 'string' && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code))
    return code
  // Prisma's adapter for pg, up to 7, keeps the code under another name.
  if (isStandard(originalCode) && typeof error.originalMessage === 'string') return originalCode
  if (!isStandard(code)) return undefined
  // Prisma's own engine, up to 6, gives a plain object with a code and a message.
  return isTold || (!(error instanceof Error) && Object.hasOwn(codes, code)) ? code : undefined
}

function isStandard(code: unknown): code is string {
  return typeof code === 'string' && /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/.test(code)
}

function words(error: ErrorLike): string | undefined {
  const said = error.code === undefined ? driverWords(error) : undefined
  return said?.includes(' ') === true && Object.hasOwn(codes, said) ? said : undefined
}

/** Of postgres.js, which says the same in both. */
function connectionCode({ code, errno }: ErrorLike): string | undefined {
  return typeof code === 'string' && code === errno && /^CONNECT(?:ION)?_/.test(code) ? code : undefined
}
