import type { Value } from '../../core/statement.ts'
import { isAtLeast, type Version } from '../../core/version.ts'
import { countIn, type ClaimStatements, type ClaimTerms, type QueueTable, type TakeStep } from '../claim.ts'
import { endAll, readClaimed, sqlClaims, type PickedChange } from '../claim-sql.ts'
import { claimText, type ClaimSyntax } from '../claim-text.ts'
import { sql } from '../sql.ts'
import { syntax as names } from './syntax.ts'

/** UTC has no hour that comes twice, as the session's own time zone may have. */
export const syntax: ClaimSyntax = {
  ...names,
  nowMs: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
}

/**
 * For the one statement that follows. At REPEATABLE READ a claim also locks the gaps between the rows that it passes:
 * new jobs then wait for it, and claims can deadlock with each other.
 */
const readCommitted = sql('SET TRANSACTION ISOLATION LEVEL READ COMMITTED')

const howMany = sql('SELECT ROW_COUNT() AS n')

/** Claims on InnoDB: three round trips, since an UPDATE does not give the rows that it has changed. */
export function innodbClaims(hasSkipLocked: (version: Version) => boolean): ClaimStatements {
  const changed = (change: PickedChange): string =>
    hasSkipLocked(change.version) ? skipping(change) : waiting(change)
  return {
    ...sqlClaims({
      syntax,
      counted: (statement) => ({ statements: [statement, howMany], count: countIn }),
      changePicked: (change) => ({
        statements: [readCommitted, change.text.statement(changed(change)), howMany],
        count: countIn,
      }),
    }),
    completeAll: (queue, held, change) => {
      const [look, text] = [claimText(syntax, queue), claimText(syntax, queue)]
      return {
        look: look.statement(`SELECT ${look.id} FROM ${look.table} WHERE ${look.allHeld(held)} FOR UPDATE`),
        change: text.statement(endAll(text, change, () => text.allHeld(held))),
      }
    },
    take: (queue, terms, version) => {
      const read = readClaimed(claimText(syntax, queue), terms, '*')
      if (!hasSkipLocked(version)) return { steps: [...lookThenTake(queue, terms), read] }
      const text = claimText(syntax, queue)
      const set = (): string => text.setClaim(terms)
      const change = { queue, text, where: text.claimable, set, limit: terms.limit, version }
      return { steps: [readCommitted, text.statement(skipping(change)), read] }
    },
    // unknown column, no such table
    misfits: ['1054', '1146'],
  }
}

export const claim: ClaimStatements = innodbClaims((version) => isAtLeast(version, [8, 0, 1]))

/** The picked rows are held until the end of the statement, and rows that others hold are passed over. */
function skipping({ text, where, set, limit }: PickedChange): string {
  return (
    `UPDATE (SELECT ${text.key} AS holdfast_key FROM ${text.from} WHERE ${where()} ` +
    `ORDER BY ${text.order()} LIMIT ${text.value(limit)} FOR UPDATE SKIP LOCKED) AS picked ` +
    `LEFT JOIN ${text.table} AS taken ON taken.${text.id} = picked.holdfast_key SET ${set()}`
  )
}

/**
 * Without SKIP LOCKED a statement that searches for rows to change waits for each row that it passes and that another
 * transaction has locked. A plain read waits for nobody; then only the rows that it found are changed, by their key, as
 * far as nobody was faster.
 */
function lookThenTake(queue: QueueTable, terms: ClaimTerms): readonly TakeStep[] {
  const look = claimText(syntax, queue)
  return [
    look.statement(
      `SELECT ${look.key} FROM ${look.from} WHERE ${look.claimable()} ` +
        `ORDER BY ${look.order()} LIMIT ${look.value(terms.limit)}`,
    ),
    (seen) => {
      const text = claimText(syntax, queue)
      const set = text.setClaim(terms)
      const ids = seen.map((row) => text.value(row[queue.id] as Value)).join(', ')
      return text.statement(
        `UPDATE ${text.from} SET ${set} WHERE ${text.key} IN (${ids}) AND ${text.claimable()}`,
      )
    },
  ]
}

/** Without SKIP LOCKED one change waits for the other: correct, and one at a time. */
function waiting({ text, where, set, limit }: PickedChange): string {
  return (
    `UPDATE ${text.from} SET ${set()} WHERE ${where()} ` +
    `ORDER BY ${text.order()} LIMIT ${text.value(limit)}`
  )
}
