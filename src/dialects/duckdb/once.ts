import { isWritten, type OnceStatements } from '../once.ts'
import { sql } from '../sql.ts'
import { nowMs } from './syntax.ts'

/** More would let more keys pass each other, and fewer are easier to make. */
const guards = 64

/**
 * Two transactions that insert one key meet only when the second commits, with an error that is not one to repeat. So
 * each first changes one of a few rows, chosen by the key: the second to do so is refused at once.
 *
 * The change ends in RETURNING, with which any two changes of one row conflict: see the table of leases.
 */
export const once: OnceStatements = {
  schema: [
    sql('CREATE TABLE IF NOT EXISTS _once (name VARCHAR(64) PRIMARY KEY, made_at BIGINT NOT NULL)'),
    sql(
      `INSERT INTO _once (name, made_at) SELECT 'guard ' || i, 0 FROM range(${guards}) AS numbers(i) ` +
        'ON CONFLICT (name) DO NOTHING',
    ),
  ],
  guard: (name) =>
    sql('UPDATE _once SET made_at = made_at + 1 WHERE name = ? RETURNING 1 AS n', guardOf(name)),
  mark: (name) =>
    sql(
      `INSERT INTO _once (name, made_at) VALUES (?, ${nowMs}) ON CONFLICT (name) DO NOTHING RETURNING 1 AS n`,
      name,
    ),
  isFirst: isWritten,
  refusals: { 'write-conflict': 'held', 'unique-violation': 'held' },
}

/** The end of a name is a part of its hash, with five bits in each letter. */
function guardOf(name: string): string {
  const number = Number.parseInt(name.slice(-2), 36)
  return `guard ${(Number.isNaN(number) ? 0 : number) % guards}`
}
