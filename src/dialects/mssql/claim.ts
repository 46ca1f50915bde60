import type { SqlStatement } from '../../core/statement.ts'
import { countIn, type ClaimStatements } from '../claim.ts'
import { endAll, sqlClaims, type PickedChange } from '../claim-sql.ts'
import { claimText, type ClaimSyntax, type ClaimText } from '../claim-text.ts'
import { syntax as names } from './syntax.ts'

export const syntax: ClaimSyntax = {
  ...names,
  nowMs: "DATEDIFF_BIG(millisecond, '1970-01-01T00:00:00', SYSUTCDATETIME())",
}

/**
 * One UPDATE through an ordered common table expression.
 *
 * READPAST passes over rows that others hold, and needs locking reads: with READ_COMMITTED_SNAPSHOT on, only
 * READCOMMITTEDLOCK makes sure of them. UPDLOCK keeps two claims from reading one row, ROWLOCK keeps one claim from
 * holding the rows of another.
 *
 * @see https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table
 */
const hints = 'WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)'

function changed({ text, where, set, limit }: PickedChange, output: string): string {
  return (
    `WITH picked AS (SELECT TOP (${text.value(limit)}) * FROM ${text.from} ${hints} WHERE ${where()} ` +
    `ORDER BY ${text.order()}) UPDATE picked SET ${set()}${output}`
  )
}

/** Asked in the same batch: OUTPUT without INTO is refused for a table with triggers, this is not. */
const howMany = '; SELECT @@ROWCOUNT AS n'

export const claim: ClaimStatements = {
  ...sqlClaims({
    syntax,
    counted: ({ sql, params }) => ({ statements: [{ sql: sql + howMany, params }], count: countIn }),
    changePicked: (change) => ({
      statements: [change.text.statement(changed(change, howMany))],
      count: countIn,
    }),
  }),
  completeAll: (queue, held, change) => {
    const [look, text] = [claimText(syntax, queue), claimText(syntax, queue)]
    const kept = 'WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)'
    return {
      look: look.statement(`SELECT ${look.id} FROM ${look.table} ${kept} WHERE ${look.allHeld(held)}`),
      change: text.statement(endAll(text, change, () => text.allHeld(held))),
    }
  },
  take: (queue, terms, version) => {
    const text = claimText(syntax, queue)
    const set = (): string => text.setClaim(terms)
    const change = { queue, text, where: text.claimable, set, limit: terms.limit, version }
    return {
      steps: [text.statement(changed(change, ' OUTPUT INSERTED.*'))],
      arrange: arranged(claimText(syntax, queue), terms.token),
    }
  },
  // invalid column name, invalid object name
  misfits: ['207', '208'],
}

/** OUTPUT promises no order. Rows that others hold are none of ours, and are not waited for. */
function arranged(text: ClaimText, token: string): SqlStatement {
  return text.statement(
    `SELECT ${text.key} FROM ${text.from} WITH (READPAST, ROWLOCK, READCOMMITTEDLOCK) ` +
      `WHERE ${text.claimedBy(token)} ORDER BY ${text.order()}`,
  )
}
