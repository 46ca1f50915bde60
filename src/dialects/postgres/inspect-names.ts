import type { Row } from '../../core/statement.ts'
import { textOf } from '../inspect-session.ts'
import { isFalse } from './boolean.ts'

/**
 * A lock statement of ours, as `advisory.ts` writes it: with a placeholder, or with the number in its text, and behind
 * it, as `transaction.ts` writes it, the transaction's own number.
 */
const lockCall =
  /pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?\((?:\$1|'(-?\d+)')::bigint\)(?: AS answer|, [^;/]+ AS id)? \/\* hf:([a-z0-9._-]+) \*\//g

/**
 * The readable part of keys by their numbers, from what sessions run. `rows` are the locks of all sessions.
 *
 * A statement with a placeholder does not say its number. Whoever waits in it waits for that number; whoever has run it
 * and has one lock only has that one.
 */
export function keyNames(rows: readonly Row[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { id, statement } of rows) {
    for (const [, number, name] of String(statement).matchAll(lockCall)) {
      const of = number ?? onlyNumber(rows.filter((row) => row.id === id))
      if (of !== undefined && name !== undefined) names.set(of, name)
    }
  }
  return names
}

function onlyNumber(own: readonly Row[]): string | undefined {
  const locks = own.filter(({ int64 }) => textOf(int64) !== undefined)
  const waited = locks.filter(({ granted }) => isFalse(granted))
  const [lock, ...more] = waited.length > 0 ? waited : locks
  return more.length > 0 ? undefined : textOf(lock?.int64)
}
