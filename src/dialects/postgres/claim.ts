import { canonicalKey } from '../../core/key.ts'
import type { SqlStatement, Value } from '../../core/statement.ts'
import type { Version } from '../../core/version.ts'
import {
  countRows,
  type Changes,
  type ClaimStatements,
  type ClaimTerms,
  type HeldClaims,
  type QueueTable,
} from '../claim.ts'
import { endAll, sqlClaims, type PickedChange } from '../claim-sql.ts'
import { claimText, type ClaimSyntax } from '../claim-text.ts'
import { sql } from '../sql.ts'
import { filled, slot } from '../written-once.ts'
import { arrayText } from './array-text.ts'
import { syntax as names } from './syntax.ts'

/**
 * `now()` would be the time at which the transaction began. EXTRACT gives a number of any length, and takes three times as long
 * where it is asked for each row that a claim passes over.
 */
export const syntax: ClaimSyntax = {
  ...names,
  nowMs: "CAST(date_part('epoch', clock_timestamp()) * 1000 AS BIGINT)",
  constant,
}

/**
 * As a text without a type, so that the column gives it one, as it does for a parameter. Only where nothing in it could
 * end the text, under any setting of the server.
 */
function constant(value: Value): string | undefined {
  const text = typeof value === 'object' ? undefined : String(value)
  return text !== undefined && /^[\w .:-]*$/.test(text) ? `'${text}'` : undefined
}

/**
 * A limit that is known when the statement is prepared gives a plan that is kept; a parameter is planned for again and
 * again. Only for numbers with one digit and noughts, since the connection keeps one statement for each.
 */
function isRoundLimit(limit: number): boolean {
  return /^[1-9]0*$/.test(String(limit))
}

function prepared(statement: SqlStatement): SqlStatement {
  return { ...statement, isPrepared: true }
}

/**
 * One UPDATE of the rows that a pick has locked.
 *
 * The pick stands in brackets of its own, which the server evaluates once, before the rows are looked for by their
 * ids: in a join it may choose to read the whole table, or to pick again for each row. FOR NO KEY UPDATE is what the
 * UPDATE itself takes: it leaves foreign keys that point at the job alone.
 */
function changed({ text, where, set, limit }: PickedChange, answer: string): string {
  const setters = set()
  const pick =
    `(SELECT ${text.key} FROM ${text.from} WHERE ${where()} ORDER BY ${text.order()} ` +
    `LIMIT ${isRoundLimit(limit) ? limit : text.value(limit)} FOR NO KEY UPDATE SKIP LOCKED)`
  const picked = limit === 1 ? pick : `ANY(ARRAY${pick})`
  return `UPDATE ${text.from} SET ${setters} WHERE ${text.key} = ${picked} RETURNING ${answer}`
}

function takeText(queue: QueueTable, terms: ClaimTerms, version: Version): SqlStatement {
  const text = claimText(syntax, queue)
  const set = (): string => text.setClaim(terms)
  const change = { queue, text, where: text.claimable, set, limit: terms.limit, version }
  const taken = changed(change, 'j.*')
  if (terms.limit === 1) return text.statement(taken)
  // RETURNING promises no order
  return text.statement(`WITH taken AS (${taken}) SELECT * FROM taken ORDER BY ${text.order('taken')}`)
}

/** All ids travel as one text; those of `held`, which have none, each as a parameter of its own. */
function endText(queue: QueueTable, change: Changes | 'delete', held?: HeldClaims): SqlStatement {
  const text = claimText(syntax, queue)
  const found = (): string =>
    held === undefined
      ? `${text.id} = ANY(${text.value(slot('ids'))}) AND ${text.heldBy(slot('token'))}`
      : text.allHeld(held)
  return text.statement(`${endAll(text, change, found)} RETURNING ${text.id}`)
}

const shared = sqlClaims({
  syntax,
  counted: ({ sql: change, params }) => ({
    statements: [prepared({ sql: `${change} RETURNING 1 AS n`, params })],
    count: countRows,
  }),
  changePicked: (change) => ({
    statements: [change.text.statement(changed(change, '1 AS n'))],
    count: countRows,
  }),
})

export const claim: ClaimStatements = {
  ...shared,
  take: (queue, terms, version) => {
    const { token, worker, limit, visibilityMs } = terms
    const isRound = isRoundLimit(limit)
    const kind = isRound ? `take ${limit}` : 'take'
    const write = (): SqlStatement => {
      const later = { token: slot<string>('token'), worker: slot<string>('worker') }
      const numbers = {
        visibilityMs: slot<number>('visibilityMs'),
        limit: isRound ? limit : slot<number>('limit'),
      }
      return takeText(queue, { ...later, ...numbers }, version)
    }
    return { steps: [filled({ queue, kind, write }, { token, worker, limit, visibilityMs })] }
  },
  complete: (queue, { id, token }, change) => {
    const write = (): SqlStatement => {
      const held = { id: slot('id'), token: slot<string>('token') }
      return shared.complete(queue, held, change).statements[0] as SqlStatement
    }
    const statement = filled({ queue, kind: 'complete', change, write }, { id, token })
    return { statements: [statement], count: countRows }
  },
  completeAll: (queue, held, change) => {
    const ids = arrayText(held.ids)
    // without the array there is another text for each number of jobs
    if (ids === undefined) return { change: endText(queue, change, held) }
    const write = (): SqlStatement => endText(queue, change)
    return { change: filled({ queue, kind: 'complete all', change, write }, { ids, token: held.token }) }
  },
  // undefined column, undefined table, a type that cannot be compared
  misfits: ['42703', '42P01', '42883'],
  topic,
  announce: (queue) => sql("SELECT pg_notify($1, '')", topic(queue)),
}

/** The name of a channel has at most 63 bytes. */
function topic({ table }: QueueTable): string {
  const parts = typeof table === 'string' ? [table] : table
  const name = ['holdfast', 'queue', ...parts].join('.')
  return Buffer.byteLength(name) < 64 ? name : canonicalKey(['holdfast.queue', ...parts]).name.slice(0, 63)
}
