import { countRows, type ClaimStatements } from './claim.ts'
import { endAll, readClaimed, sqlClaims, type PickedChange } from './claim-sql.ts'
import { claimText, type ClaimSyntax } from './claim-text.ts'

type Shared = ReturnType<typeof sqlClaims> & Pick<ClaimStatements, 'take' | 'completeAll'>

/**
 * Claims on engines that run inside of the process, by one UPDATE ... RETURNING.
 *
 * There are no rows to skip: a second writer waits for the database or is refused, and tries again. RETURNING promises
 * no order.
 */
export function embeddedClaims(syntax: ClaimSyntax): Shared {
  return {
    ...sqlClaims({
      syntax,
      counted: ({ sql, params }) => ({
        statements: [{ sql: `${sql} RETURNING 1 AS n`, params }],
        count: countRows,
      }),
      changePicked: (change) => ({
        statements: [change.text.statement(`${changed(change)} RETURNING 1 AS n`)],
        count: countRows,
      }),
    }),
    completeAll: (queue, held, change) => {
      const text = claimText(syntax, queue)
      return {
        change: text.statement(
          `${endAll(text, change, () => text.allHeld(held))} RETURNING ${text.id}${text.withExactId(text.id)}`,
        ),
      }
    },
    take: (queue, terms, version) => {
      const text = claimText(syntax, queue)
      const set = (): string => text.setClaim(terms)
      const change = { queue, text, where: text.claimable, set, limit: terms.limit, version }
      const read = claimText(syntax, queue)
      return {
        steps: [text.statement(`${changed(change)} RETURNING *${text.withExactId(text.id)}`)],
        arrange: readClaimed(read, terms, read.key + read.withExactId(read.key)),
      }
    },
  }
}

function changed({ text, where, set, limit }: PickedChange): string {
  return (
    `UPDATE ${text.table} SET ${set()} WHERE ${text.id} IN (SELECT ${text.key} FROM ${text.from} ` +
    `WHERE ${where()} ORDER BY ${text.order()} LIMIT ${text.value(limit)})`
  )
}
