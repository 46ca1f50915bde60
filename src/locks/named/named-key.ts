import { performance } from '../../core/clock.ts'
import { LockUsageError } from '../../core/errors.ts'
import { canonicalKey, isRawKey, ownKey, type LockKey, type RawKey } from '../../core/key.ts'
import { labelOf, type Asked } from '../refused.ts'
import type { CheckedLock } from './lock-options.ts'

/** A key beside the text that tells it from every other. */
export interface NamedKey {
  readonly id: string
  readonly key: LockKey
}

/** More would crowd the table of locks that PostgreSQL has for all its clients together. */
const maxKeys = 1000

/**
 * The keys in one order that is the same in every process, each once: two callers that take several of the same locks
 * in one order cannot deadlock on them.
 */
export function inCanonicalOrder(keys: readonly LockKey[]): readonly NamedKey[] {
  if (!Array.isArray(keys) || keys.length === 0)
    throw new LockUsageError('keys', 'must be a list of at least one key')
  if (keys.length > maxKeys)
    throw new LockUsageError('keys', `${keys.length} are too many at once (at most ${maxKeys})`)
  const [first] = keys as readonly LockKey[]
  if (keys.length === 1 && first !== undefined) return [namedKey(first)]
  // what has holes has no element there that map would look at
  const byId = new Map(Array.from(keys as readonly LockKey[], keyAt).map((one) => [one.id, one]))
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function keyAt(key: LockKey | undefined, index: number): NamedKey {
  if (key === undefined)
    throw new LockUsageError(`keys[${index}]`, "is missing: pass a key, as in ['order', 7]")
  return namedKey(key)
}

export function namedKey(given: LockKey): NamedKey {
  const key = ownKey(given)
  return { id: keyId(key), key }
}

/** The same text for the same lock, and for no other. */
export function keyId(key: LockKey): string {
  if (key === undefined || key === null) throw new LockUsageError('key', 'a lock needs a key')
  return isRawKey(key) ? rawId(key) : canonicalKey(key).text
}

function rawId(key: RawKey): string {
  if (key.raw === 'int64') return `raw int64 ${key.value}`
  if (key.raw === 'int32-pair') return `raw int32-pair ${key.values.join(' ')}`
  return key.raw === 'hashtext' ? `raw hashtext ${key.text}` : `raw name ${key.name}`
}

/** What somebody asks for who wants all of these. */
export function askedOf(names: readonly NamedKey[], { mode, wait }: CheckedLock): Asked {
  const keys = names.map(({ key }) => key)
  const [first] = keys
  const key = keys.length === 1 && first !== undefined ? first : keys
  return { label: labelOf('lock', ...keys), key, mode, wait, began: performance.now() }
}
