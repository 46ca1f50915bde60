import { isWritten, type OnceStatements } from '../once.ts'
import { sql } from '../sql.ts'
import { nowMs } from './syntax.ts'

/** A transaction that writes is the only one: nobody else is about to leave a mark. */
export const once: OnceStatements = {
  schema: [
    sql('CREATE TABLE IF NOT EXISTS _once (name VARCHAR(64) NOT NULL PRIMARY KEY, made_at BIGINT NOT NULL)'),
  ],
  mark: (name) =>
    sql(
      `INSERT INTO _once (name, made_at) VALUES (?, ${nowMs}) ON CONFLICT (name) DO NOTHING RETURNING 1 AS n`,
      name,
    ),
  isFirst: isWritten,
  refusals: {},
}
