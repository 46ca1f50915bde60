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
  throw new LockUsageError('access', 'this database has no transactions that only read')
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
