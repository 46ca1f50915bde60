import { countIn } from '../claim.ts'
import type { OnceStatements } from '../once.ts'
import { sql } from '../sql.ts'

/** A table that is there is no failure, whoever made it. Names differ by every bit. */
const table = sql(
  'BEGIN TRY CREATE TABLE _once (name nvarchar(64) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY, ' +
    "made_at bigint NOT NULL); END TRY BEGIN CATCH IF OBJECT_ID(N'_once', N'U') IS NULL THROW; END CATCH",
)

/**
 * UPDLOCK and HOLDLOCK lock the place of the mark before it is there: another who looks waits. At SNAPSHOT, where the
 * look may miss a mark that is younger than the transaction, the key itself refuses it. With XACT_ABORT that error
 * ends the transaction, so it is always taken for its end.
 *
 * @see https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table
 */
export const once: OnceStatements = {
  schema: [table],
  mark: (name) =>
    sql(
      "INSERT INTO _once (name, made_at) SELECT @p1, DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME()) " +
        'WHERE NOT EXISTS (SELECT 1 FROM _once WITH (UPDLOCK, HOLDLOCK) WHERE name = @p1); ' +
        'SELECT @@ROWCOUNT AS n',
      name,
    ),
  isFirst: (rows) => countIn(rows) === 1,
  refusals: { 'unique-violation': 'held' },
}
