import { isWritten, type OnceStatements } from '../once.ts'
import { sql } from '../sql.ts'

/** Of two sessions that create one table at a time, one fails on the catalog's own index, IF NOT EXISTS or not. */
const table = sql(
  "DO $$ BEGIN IF to_regclass('_once') IS NULL THEN CREATE TABLE _once " +
    '(name varchar(64) PRIMARY KEY, made_at bigint NOT NULL); END IF; ' +
    'EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN NULL; END $$',
)

/**
 * Waits for a transaction that is about to leave the same mark. No error, which would end the transaction, where the
 * mark is there; but a serialization failure where it is younger than the snapshot of REPEATABLE READ or SERIALIZABLE.
 *
 * @see https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
 */
export const once: OnceStatements = {
  schema: [table],
  mark: (name) =>
    sql(
      'INSERT INTO _once (name, made_at) ' +
        'VALUES ($1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) ' +
        'ON CONFLICT (name) DO NOTHING RETURNING 1 AS n',
      name,
    ),
  isFirst: isWritten,
  refusals: {},
}
