import { LockUsageError } from './errors.ts'
import type { RawKey } from './key.ts'

/** The advisory lock `pg_advisory_lock(value)` of code that does not use Holdfast. */
export function rawInt64Key(value: bigint | number): RawKey {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new LockUsageError(
      'value',
      `${value} is not a whole number that JavaScript holds exactly; use a bigint`,
    )
  }
  const exact = BigInt(value)
  if (BigInt.asIntN(64, exact) !== exact)
    throw new LockUsageError('value', `${exact} does not fit in 64 bits`)
  return { raw: 'int64', value: exact }
}

/** The advisory lock `pg_advisory_lock(first, second)`, a key space of its own. */
export function rawInt32PairKey(first: number, second: number): RawKey {
  for (const [field, value] of Object.entries({ first, second })) {
    if ((value | 0) !== value) throw new LockUsageError(field, `${value} does not fit in 32 bits`)
  }
  return { raw: 'int32-pair', values: [first, second] }
}

/**
 * The advisory lock `pg_advisory_lock(hashtext(text))`.
 *
 * `hashtext` has 32 bits and is internal to the server: two texts can share a lock. Use it only to share locks with
 * code that already does.
 */
export function rawHashtextKey(text: string): RawKey {
  return { raw: 'hashtext', text: checkText('text', text) }
}

/** The lock `GET_LOCK(name)` or `sp_getapplock(name)` of code that does not use Holdfast. */
export function rawNameKey(name: string): RawKey {
  return { raw: 'name', name: checkText('name', name) }
}

function checkText(field: string, text: string): string {
  if (typeof text !== 'string' || text === '')
    throw new LockUsageError(field, 'must be a text that is not empty')
  return text
}
