import type { OnceStatements } from '../once.ts'
import { sql } from '../sql.ts'

/**
 * MariaDB's too. Waits for a transaction that is about to leave the same mark. A duplicate undoes the INSERT alone.
 *
 * INSERT IGNORE would take every other error for a duplicate too, and how many rows ON DUPLICATE KEY UPDATE counts
 * depends on a flag of the connection.
 */
export const once: OnceStatements = {
  schema: [
    sql(
      'CREATE TABLE IF NOT EXISTS _once (name VARCHAR(64) NOT NULL PRIMARY KEY, made_at BIGINT NOT NULL) ' +
        'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    ),
  ],
  mark: (name) =>
    sql(
      'INSERT INTO _once (name, made_at) ' +
        "VALUES (?, TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000)",
      name,
    ),
  isFirst: () => true,
  refusals: { 'unique-violation': 'done' },
}
