import { oneOf, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Isolation } from '../core/request.ts'
import type { TransactionStart } from '../core/session.ts'

/** Every word that may stand in a BEGIN, so that nothing of what the caller gave becomes text of the statement. */
const levels = {
  'read uncommitted': 'READ UNCOMMITTED',
  'read committed': 'READ COMMITTED',
  'repeatable read': 'REPEATABLE READ',
  serializable: 'SERIALIZABLE',
} as const

const accesses = { 'read-write': 'READ WRITE', 'read-only': 'READ ONLY' } as const

/** `ISOLATION LEVEL` and its name in standard SQL, which knows no `snapshot`. */
export function isolationWords({ isolation }: TransactionStart): readonly string[] {
  if (isolation === undefined) return []
  return [
    'ISOLATION LEVEL',
    levels[oneOf('isolation', isolation, Object.keys(levels) as (keyof typeof levels)[])],
  ]
}

export function accessWords({ access }: TransactionStart): readonly string[] {
  return access === undefined ? [] : [accesses[oneOf('access', access, ['read-write', 'read-only'])]]
}

export function withoutMode({ mode }: TransactionStart): void {
  if (mode === undefined) return
  throw new LockUsageError('mode', `a transaction cannot begin with ${show(mode)} on this database`)
}

export function withoutReadOnly({ access }: TransactionStart): void {
  if (access === undefined || oneOf('access', access, ['read-write', 'read-only']) === 'read-write') return
  throw new LockUsageError('access', 'this database has no read-only transactions')
}

const upToSnapshot: readonly Isolation[] = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'snapshot',
]

/** For an engine whose every transaction reads one snapshot: as much as these levels ask for, less than `serializable`. */
export function withinSnapshot({ isolation }: TransactionStart): void {
  if (isolation !== undefined) oneOf('isolation', isolation, upToSnapshot)
}

/** For an engine whose every transaction is serializable, which is as much as any level asks for. */
export function withinSerializable({ isolation }: TransactionStart): void {
  if (isolation !== undefined) oneOf('isolation', isolation, [...upToSnapshot, 'serializable'])
}

export function withoutHead({ head = [] }: TransactionStart): void {
  if (head.length > 0) throw new LockUsageError('head', 'no SQL can go with the start of a transaction here')
}

/** The texts of the statements that belong to the start. They have no place for values. */
export function headTexts({ head = [] }: TransactionStart): readonly string[] {
  return head.map(({ sql, params }) => {
    if (params.length === 0) return sql
    throw new LockUsageError('head', 'a statement that travels with BEGIN takes no values')
  })
}

/** Sends one after another. Gives what the last one gave. */
export function sendInTurn<S, T>(
  statements: readonly S[],
  send: (statement: S) => Promise<T>,
): Promise<T | undefined> {
  const [only, second] = statements
  return only !== undefined && second === undefined ? send(only) : sendAll(statements, send)
}

async function sendAll<S, T>(
  statements: readonly S[],
  send: (statement: S) => Promise<T>,
): Promise<T | undefined> {
  let last: T | undefined
  for (const statement of statements) last = await send(statement)
  return last
}

/** What `start` gives. A start that fails leaves no transaction open behind it. */
export function undoneOnError<T>(start: () => Promise<T>, undo: () => Promise<unknown>): Promise<T> {
  return start().catch(async (reason: unknown) => {
    await undo().catch(() => {}) // the connection is gone, and the transaction with it
    throw reason
  })
}
