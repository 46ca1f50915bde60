import { LockUsageError, UnsupportedLockError } from '../../core/errors.ts'
import type { Plan, QueryLock } from '../../core/plan.ts'
import type { LockMode, RowRequest } from '../../core/request.ts'
import { unsupported } from '../../core/support.ts'
import { isDone, isLocking, mentionsLock, readLock, replaceLock } from './lock.ts'
import { someChild, type QueryNode, type SelectNode } from './nodes.ts'
import { changeSelects, outermost, type Place } from './places.ts'
import { checkShape, isWithQuery, lockedSources, namesOf } from './shape.ts'
import { sourcesOf, writeBehind, type Source } from './sources.ts'

/** What the plugin is told of the server. */
export interface LockPluginOptions {
  /** The plan for a lock on the rows of a query. Throws where the server cannot give the lock. */
  readonly planFor: (request: RowRequest & { readonly mode: LockMode }) => Plan
  /**
   * Throws unless the query is about to run in a transaction in which the plan's lock lasts.
   *
   * A plan with `begin` needs a transaction that was begun with that word, since the transaction itself is then the
   * lock and nothing of it is left in the query; any other plan needs just a transaction. Called whenever a query
   * that locks is compiled, before it is sent.
   *
   * @default a lock that only the transaction can give is refused, nothing else is checked
   */
  readonly requireTransaction?: (plan: Plan) => void
}

/** A plugin as Kysely takes it, in `plugins` or `withPlugin()`. */
export interface LockPlugin {
  transformQuery: <N extends { readonly kind: string }>(args: { readonly node: N }) => N
  transformResult: <R>(args: { readonly result: R }) => Promise<R>
}

/**
 * Makes Kysely's own `forUpdate`, `forNoKeyUpdate`, `forShare`, `forKeyShare`, `skipLocked` and `noWait` mean the same
 * on every database: the words become what the server's plan says, or the query is refused with the reason.
 *
 * Every row that a locked SELECT hands on is locked, wherever the SELECT stands. What cannot be promised is a
 * {@link LockUsageError} that names what to change, or an {@link UnsupportedLockError}; nothing is dropped in silence.
 * SQL text in `sql` is left as it is, and looked into only for aggregate and window functions.
 *
 * Two things follow from how databases run a query. A sub-query in a condition is run as far as the condition needs:
 * of many rows EXISTS may lock one. And InnoDB takes a shared lock where it reads: in an index that holds every column
 * of the query the row itself stays free, so nothing that was read can change, but an exclusive lock can be had.
 *
 * Install it behind plugins that rename tables: `of` names are written as they are at that point.
 */
export function lockPlugin(options: LockPluginOptions): LockPlugin {
  const change = (select: SelectNode, place: Place): SelectNode => lockSelect(select, place, options)
  return {
    transformQuery: ({ node }) => lockQuery(node, change) as unknown as typeof node,
    transformResult: async ({ result }) => result,
  }
}

/** Most queries lock nothing, or are one SELECT that does: those need no look at what stands in what. */
function lockQuery(root: QueryNode, change: (select: SelectNode, place: Place) => SelectNode): QueryNode {
  if (someChild(root, mentionsLock)) return changeSelects(root, change)
  if (!isLocking(root)) return root
  return root.with === undefined ? change(root, outermost) : changeSelects(root, change)
}

function lockSelect(
  select: SelectNode,
  place: Place,
  { planFor, requireTransaction }: LockPluginOptions,
): SelectNode {
  const wasDone = isDone(select)
  const asked = wasDone ? undefined : readLock(select)
  if (!wasDone && asked === undefined) return select
  checkPlace(place)
  const sources = sourcesOf(select)
  if (asked === undefined) {
    checkSubquery(sources, place)
    if (place.isInDelete === true) checkDelete(lockOf(planFor({ mode: 'exclusive' })))
    return select
  }
  checkShape(select)
  const locked = lockedSources(sources, asked.of, place)
  const plan = planFor({ ...asked.request, ...(asked.of && { of: namesOf(locked, sources) }) })
  const lock = lockOf(plan)
  if (place.isInDelete === true) checkDelete(lock)
  if (requireTransaction !== undefined) requireTransaction(plan)
  else if (lock.style === 'covered') throw noTransaction()
  return writeLock(select, lock, locked)
}

function writeLock(select: SelectNode, lock: WritableLock, locked: readonly Source[]): SelectNode {
  if (lock.style === 'clause') return replaceLock(select, lock.clause)
  const bare = replaceLock(select, '')
  if (lock.style === 'covered') return bare
  return writeBehind(bare, locked, ` WITH (${lock.hints.join(', ')})`)
}

function checkPlace({ refusal, ownRefusal }: Place): void {
  const found = refusal ?? ownRefusal
  if (found !== undefined) throw new LockUsageError(...found)
}

/** A sub-query that was locked by itself could not know the WITH queries around it. */
function checkSubquery(sources: readonly Source[], place: Place): void {
  const found = sources.find((source) => isWithQuery(source, place))
  if (found === undefined) return
  throw new LockUsageError(
    'from',
    `${found.name} is a WITH query of the query around it: build the locked subquery with the expression builder`,
  )
}

function checkDelete(lock: WritableLock): void {
  if (lock.style !== 'clause' || lock.isUnsafeInDelete !== true) return
  throw new LockUsageError(
    'where',
    'this server would also delete the rows that the subquery of a DELETE locks: lock them in a separate query, then delete by key',
  )
}

type WritableLock = Exclude<QueryLock, { readonly style: 'touch' }>

/** What of the plan can be written into the query. A query is one statement: it cannot bring others along. */
function lockOf(plan: Plan): WritableLock {
  const { query, setting, needs, beforeBegin, inTransaction, afterEnd } = plan
  if (setting !== undefined) {
    throw refused(
      plan,
      'it is done by a setting of the session, which a query alone can neither change nor restore',
    )
  }
  const others = [...needs, ...beforeBegin, ...inTransaction, ...afterEnd]
  if (others.length > 0 || query === undefined || query.style === 'touch') {
    throw refused(plan, 'it takes extra statements, which a query alone cannot send')
  }
  return query
}

function refused({ dialect, category }: Plan, reason: string): UnsupportedLockError {
  return new UnsupportedLockError(dialect, category, unsupported(reason, 'use locks.rows'))
}

function noTransaction(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'the transaction itself is the lock here, so the query must run in one that was begun for it: use locks.transaction',
  )
}
