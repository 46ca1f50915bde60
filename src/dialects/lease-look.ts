import type { SqlStatement } from '../core/statement.ts'

/**
 * Which of these leases are not free, of a table with `owner` and `expires_at`. `now` is the engine's expression for its
 * own clock in milliseconds.
 */
export function lookAtLeases(
  names: readonly string[],
  now: string,
  parameter: (position: number) => string = () => '?',
): SqlStatement {
  const places = names.map((_, index) => parameter(index + 1)).join(', ')
  return {
    sql:
      `SELECT name, expires_at - ${now} AS left_ms FROM _leases ` +
      `WHERE name IN (${places}) AND (owner IS NOT NULL OR expires_at > ${now})`,
    params: names,
  }
}
