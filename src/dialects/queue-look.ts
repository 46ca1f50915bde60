import { checkName } from '../core/check-field.ts'
import type { Row } from '../core/statement.ts'
import type { QueueTable, Tally } from './claim.ts'
import { alias, claimText, type ClaimSyntax } from './claim-text.ts'

/** What somebody who watches a queue asks besides its counts. Only reads. */
export interface QueueLook {
  /** For how long the oldest job that can be claimed has been there; undefined where there is none. */
  readonly oldest: (queue: QueueTable, stored: StoredAt) => Tally<number | undefined>
  /** The claims that hold now, by their tokens, with the number of jobs that each has. */
  readonly claims: (queue: QueueTable) => Tally<ReadonlyMap<string, number>>
}

/** The column that says when a job was stored: a date with its time, or milliseconds since 1970. */
export interface StoredAt {
  readonly column: string
  readonly isMs: boolean
}

/** `ageMs` is how long ago a date was by the server's clock, in the engine's words. */
export function sqlQueueLook(syntax: ClaimSyntax, ageMs: (date: string) => string): QueueLook {
  const { quote, nowMs } = syntax
  const at = (column: string): string => `${alias}.${quote(column)}`
  return {
    oldest: (queue, { column, isMs }) => {
      const text = claimText(syntax, queue)
      const first = `MIN(${at(checkName('storedAt', column))})`
      const age = isMs ? `${nowMs} - ${first}` : ageMs(first)
      return {
        statement: text.statement(
          `SELECT ${age} AS ${quote('age_ms')} FROM ${text.from} WHERE ${text.claimable()}`,
        ),
        read: ageIn,
      }
    },
    claims: (queue) => {
      const text = claimText(syntax, queue)
      const [token, until] = [at(queue.token), at(queue.until)]
      return {
        statement: text.statement(
          `SELECT ${token} AS ${quote('token')}, COUNT(*) AS ${quote('n')} FROM ${text.from} ` +
            `WHERE ${text.matching()} AND ${token} IS NOT NULL AND ${until} > ${nowMs} GROUP BY ${token}`,
        ),
        read: claimsIn,
      }
    },
  }
}

/** Engines give a number as a bigint or a text, too, and nothing as null. */
export function ageIn([row]: readonly Row[]): number | undefined {
  const age = row?.age_ms
  return age === null || age === undefined ? undefined : Math.max(0, Math.round(Number(age)))
}

export function claimsIn(rows: readonly Row[]): ReadonlyMap<string, number> {
  return new Map(rows.map(({ token, n }) => [String(token), Number(n)]))
}
