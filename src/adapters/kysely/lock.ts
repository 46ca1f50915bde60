import { LockUsageError } from '../../core/errors.ts'
import type { LockMode, RowRequest, Strength } from '../../core/request.ts'
import { someChild, isSelect, rawText, type ModifierNode, type QueryNode, type SelectNode } from './nodes.ts'

/** The lock that a SELECT asks for with Kysely's own words. */
export interface AskedLock {
  readonly request: RowRequest & { readonly mode: LockMode }
  /** The tables that it names, as Kysely's nodes. */
  readonly of: readonly QueryNode[] | undefined
}

interface LockWord {
  readonly method: string
  readonly mode: LockMode
  readonly strength: Strength
}

const lockWords: Readonly<Record<string, LockWord>> = {
  ForUpdate: { method: 'forUpdate', mode: 'exclusive', strength: 'update' },
  ForNoKeyUpdate: { method: 'forNoKeyUpdate', mode: 'exclusive', strength: 'no-key-update' },
  ForShare: { method: 'forShare', mode: 'shared', strength: 'share' },
  ForKeyShare: { method: 'forKeyShare', mode: 'shared', strength: 'key-share' },
}

const waitWords: Readonly<Record<string, 'skip' | 'nowait'>> = { SkipLocked: 'skip', NoWait: 'nowait' }

/** Whether anything in the statement asks for a lock, or was given one. */
export function mentionsLock(node: QueryNode): boolean {
  return isLocking(node) || someChild(node, mentionsLock)
}

/** Whether the node itself is a SELECT that asks for a lock, or was given one. */
export function isLocking(node: QueryNode): node is SelectNode {
  return isSelect(node) && (isDone(node) || node.endModifiers?.some(isLockModifier) === true)
}

/** One of Kysely's own words about locks, in its own form or in ours. */
function isLockModifier({ modifier = '' }: ModifierNode): boolean {
  return Object.hasOwn(lockWords, modifier) || Object.hasOwn(waitWords, modifier)
}

/**
 * Whether the SELECT has been here before.
 *
 * Kysely runs a sub-query that was built by `db` through the plugins by itself, and once more with the query around it.
 * An empty list of modifiers, which Kysely itself never makes, is what {@link replaceLock} leaves.
 */
export function isDone({ endModifiers }: SelectNode): boolean {
  if (endModifiers?.length === 0) return true
  return endModifiers?.some((one) => isLockModifier(one) && one.rawModifier !== undefined) === true
}

/** What the SELECT asks for; undefined when it asks for no lock. */
export function readLock({ endModifiers = [] }: SelectNode): AskedLock | undefined {
  const words = endModifiers.filter(({ modifier = '' }) => Object.hasOwn(lockWords, modifier))
  const waits = endModifiers.flatMap(({ modifier = '' }) => waitWords[modifier] ?? [])
  const [lock, ...others] = words
  const [wait = 'block', ...otherWaits] = waits
  if (otherWaits.some((other) => other !== wait)) {
    throw new LockUsageError('wait', 'skipLocked and noWait contradict each other: keep one of them')
  }
  if (lock === undefined) {
    if (waits.length === 0) return undefined
    throw new LockUsageError('wait', 'skipLocked and noWait need a lock beside them, such as forUpdate()')
  }
  if (others.length > 0) {
    const methods = words.map(({ modifier = '' }) => lockWords[modifier]?.method)
    throw new LockUsageError(
      'mode',
      `one SELECT takes one lock, not ${methods.join(' and ')}: name all tables in one of them, or use two queries`,
    )
  }
  if (lock.of?.length === 0)
    throw new LockUsageError('of', 'names no table: leave it out to lock the rows of every table')
  const { mode, strength } = lockWords[lock.modifier ?? ''] as LockWord
  return { request: { mode, strength, wait }, of: lock.of }
}

/** The SELECT with `text` in place of Kysely's own words about locks; they leave a mark for {@link isDone}. */
export function replaceLock(select: SelectNode, text: string): SelectNode {
  const { endModifiers = [] } = select
  const word = endModifiers.find(({ modifier = '' }) => Object.hasOwn(lockWords, modifier))
  const kept = endModifiers.flatMap((one): readonly ModifierNode[] => {
    if (one === word) return [{ kind: one.kind, modifier: one.modifier ?? '', rawModifier: rawText(text) }]
    return isLockModifier(one) ? [] : [one]
  })
  return { ...select, endModifiers: kept.length === 1 && text === '' ? [] : kept }
}
