import type { ErrorLike, ErrorMeaning, ErrorTable } from '../../core/classification.ts'
import { LockUsageError } from '../../core/errors.ts'

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }

/** By the first word of the server's answer, or by what the client calls its own errors. */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  // this server takes no lease now, and another one, or the same one later, may
  READONLY: lost,
  LOADING: lost,
  MASTERDOWN: lost,
  CLUSTERDOWN: lost,
  TRYAGAIN: lost,
  NOREPLICAS: lost,
  BUSY: lost,
  // ioredis
  MaxRetriesPerRequestError: lost,
  ClusterAllFailedError: lost,
  AbortError: lost,
  'Connection is closed.': lost,
  'Command timed out': lost,
  "Stream isn't writeable and enableOfflineQueue options is false": lost,
  // redis
  ClientClosedError: lost,
  ClientOfflineError: lost,
  ConnectionTimeoutError: lost,
  DisconnectsClientError: lost,
  ReconnectStrategyError: lost,
  RootNodesUnavailableError: lost,
  SocketClosedUnexpectedlyError: lost,
  SocketTimeoutError: lost,
  TimeoutError: lost,
}

export const errors: ErrorTable = { codeOf, codes, otherwise: 'open' }

/** What the classes are called that carry an answer of the server: in `ioredis`, and in `redis`. */
const replies: readonly unknown[] = ['ReplyError', 'ErrorReply', 'SimpleError', 'BlobError']

/** Redis 7.0 has no code for a right that is missing inside of a script. */
const deniedInScript = /^ERR The user executing the script can't/

function codeOf(error: ErrorLike): string | undefined {
  const { message, constructor } = error
  const called = typeof constructor === 'function' ? constructor.name : undefined
  const text = typeof message === 'string' ? message : ''
  if (replies.includes(called))
    return deniedInScript.test(text) ? 'NOPERM' : (/^[A-Z]+/.exec(text)?.[0] ?? 'ERR')
  if (called !== undefined && Object.hasOwn(codes, called)) return called
  return Object.hasOwn(codes, text) ? text : undefined
}

/** Whether the server does not know the script: it has done nothing. */
export function isUnknownScript(error: unknown): boolean {
  return codeIn(error) === 'NOSCRIPT'
}

const elsewhere: Readonly<Record<string, string>> = {
  READONLY: 'it is a replica, which takes no leases: connect to the primary',
  LOADING: 'it is still loading its data',
  MASTERDOWN: 'it is a replica that has lost its primary: connect to the primary',
  CLUSTERDOWN: 'its cluster is down: too few of the primaries can be reached',
  BUSY: 'it is busy with a script of somebody that does not end',
  MaxRetriesPerRequestError: 'its client finds no connection: is there a Redis at that address?',
  OOM: 'its memory is full, and it evicts nothing: raise maxmemory, or use a Redis that has room',
}

/** What the caller is to see: in words that say what to do, where the server's do not. `cause` is the client's error. */
export function explain(thrown: unknown, prefix: string): unknown {
  const error = withoutPassword(thrown)
  const code = codeIn(error)
  if (code === 'NOAUTH' || code === 'WRONGPASS')
    return refused(error, `Redis refuses the user or the password that the client was made with (${code})`)
  if (code === 'NOPERM')
    return refused(
      error,
      'its user may not do all that a lease needs: allow it +@read +@write +@scripting +time +info +publish ' +
        `+subscribe, the keys ~${prefix}lease:* and the channel &${prefix}leases (NOPERM)`,
    )
  if (code === 'EVICTS') return evicting(error)
  if (code === 'CROSSSLOT') return scattered(error, prefix)
  const why = code === undefined ? undefined : elsewhere[code]
  return why === undefined ? error : new Error(`Redis takes no lease now: ${why} (${code})`, { cause: error })
}

/** An answer of the server, without the command that it is of. */
class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

/**
 * `ioredis` notes at an answer which command it is of. When a login fails, everything that waits for it is rejected with
 * the answer to AUTH, beside which the password stands.
 */
function withoutPassword(error: unknown): unknown {
  if (!(error instanceof Error) || !('command' in error)) return error
  const { name } = (error.command ?? {}) as { readonly name?: unknown }
  return /^(auth|hello)$/i.test(String(name)) ? new ReplyError(error.message) : error
}

function refused(cause: unknown, why: string): LockUsageError {
  return new LockUsageError('client', why, { cause })
}

function evicting(cause: unknown): LockUsageError {
  const policy = (cause as Error).message.split(' ')[1]
  return new LockUsageError(
    'maxmemory-policy',
    `this Redis is a cache (${policy}): when its memory is full it forgets leases that are held. Use a Redis with ` +
      'noeviction or a volatile policy',
    { cause },
  )
}

/** Only a look at a semaphore has more than one key. */
function scattered(cause: unknown, prefix: string): LockUsageError {
  return new LockUsageError(
    'prefix',
    `the braces in ${JSON.stringify(prefix)}, or in the keyPrefix of ioredis, make the cluster scatter the keys of a ` +
      'semaphore over its slots: leave them out, or put a whole word into them (CROSSSLOT)',
    { cause },
  )
}

function codeIn(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? codeOf(error as ErrorLike) : undefined
}
