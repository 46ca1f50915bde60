import type { Plan } from './core/plan.ts'
import type { Category } from './core/category.ts'
import type { RequestOf } from './core/request.ts'
import type { Dialect } from './dialects/dialect.ts'
import { planOn, type KnownServer } from './dialects/plan-on.ts'
import { findDialect, type DialectName } from './registry.ts'

/** A dialect at the version that Holdfast assumes, or at the version that the server told. */
export type ServerKind =
  | DialectName
  | Dialect
  | { readonly dialect: DialectName | Dialect; readonly version: string }

/**
 * The plan for a lock on a server: what has to be sent, in which order, and what it really gives.
 *
 * Rejects with {@link UnsupportedLockError} when that server cannot give the lock, and with {@link LockUsageError}
 * when the request contradicts itself. Sends nothing.
 *
 * @example
 * emit('postgres', 'row-exclusive', { wait: 'nowait' }).query // => { style: 'clause', clause: 'FOR UPDATE NOWAIT' }
 */
export function emit<C extends Category>(server: ServerKind, category: C, request: RequestOf<C>): Plan {
  return planOn(resolveServer(server), category, request)
}

export function resolveServer(server: ServerKind): KnownServer {
  const told = typeof server === 'object' && 'dialect' in server ? server : undefined
  const dialect = findDialect(told === undefined ? (server as DialectName | Dialect) : told.dialect)
  return { dialect, version: dialect.readVersion(told?.version ?? dialect.versions.assumed) }
}
