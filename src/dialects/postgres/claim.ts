import { isAtLeast } from '../../core/version.ts'
import { canonicalKey } from '../../core/key.ts'
import type { Row } from '../../core/statement.ts'
import { countRows, type ClaimStatements, type QueueTable } from '../claim.ts'
import { partialIndex } from '../claim-index.ts'
import { sqlClaims, type PickedChange } from '../claim-sql.ts'
import { claimText, type ClaimSyntax } from '../claim-text.ts'
import { sql } from '../sql.ts'
import { syntax as names } from './syntax.ts'

/** `now()` would be the time at which the transaction began. */
const syntax: ClaimSyntax = {
  ...names,
  nowMs: 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
}

/**
 * One UPDATE of the rows that a pick has locked.
 *
 * The pick is materialized, so that it is made once and not for each row. FOR NO KEY UPDATE is what the UPDATE itself
 * takes: it leaves foreign keys that point at the job alone.
 */
function changed({ text, version, where, set, limit }: PickedChange, answer: string): string {
  const materialized = isAtLeast(version, [12, 0, 0]) ? 'AS MATERIALIZED' : 'AS'
  return (
    `WITH picked ${materialized} (SELECT ${text.key} AS holdfast_key FROM ${text.from} WHERE ${where()} ` +
    `ORDER BY ${text.order()} LIMIT ${text.value(limit)} FOR NO KEY UPDATE SKIP LOCKED), ` +
    `taken AS (UPDATE ${text.from} SET ${set()} FROM picked ` +
    `WHERE ${text.key} = picked.holdfast_key RETURNING ${answer})`
  )
}

export const claim: ClaimStatements = {
  ...sqlClaims({
    syntax,
    counted: ({ sql: change, params }) => ({
      statements: [{ sql: `${change} RETURNING 1 AS n`, params }],
      count: countRows,
    }),
    changePicked: (change) => ({
      statements: [change.text.statement(`${changed(change, '1 AS n')} SELECT n FROM taken`)],
      count: countRows,
    }),
  }),
  take: (queue, terms, version) => {
    const text = claimText(syntax, queue)
    const set = (): string => text.setClaim(terms)
    const change = { queue, text, where: text.claimable, set, limit: terms.limit, version }
    const taken = changed(change, 'j.*')
    return { steps: [text.statement(`${taken} SELECT * FROM taken ORDER BY ${text.order('taken')}`)] }
  },
  index: (queue) => [partialIndex(names, queue)],
  scan: {
    // a small table is read as a whole whatever indexes it has: without that choice the answer is about the index
    head: [sql('SET LOCAL enable_seqscan = off'), sql('SET LOCAL enable_sort = off')],
    ask: (queue) => {
      const text = claimText(syntax, queue)
      return text.statement(
        `EXPLAIN (FORMAT JSON) SELECT ${text.key} FROM ${text.from} WHERE ${text.claimable()} ` +
          `ORDER BY ${text.order()} LIMIT 1`,
      )
    },
    problem: scanProblem,
  },
  // undefined column, undefined table
  misfits: ['42703', '42P01'],
  topic,
  announce: (queue) => sql("SELECT pg_notify($1, '')", topic(queue)),
}

/** The name of a channel has at most 63 bytes. */
function topic({ table }: QueueTable): string {
  const parts = typeof table === 'string' ? [table] : table
  const name = ['holdfast', 'queue', ...parts].join('.')
  return Buffer.byteLength(name) < 64 ? name : canonicalKey(['holdfast.queue', ...parts]).name.slice(0, 63)
}

interface PlanNode {
  readonly 'Node Type'?: string
  readonly Filter?: string
  readonly Plans?: readonly PlanNode[]
}

/** A condition that an index on some rows implies is not in the filter; one that is there was tried row by row. */
function scanProblem([row]: readonly Row[], queue: QueueTable): string | undefined {
  const nodes = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)]
  const answer = row?.['QUERY PLAN']
  const plans = (typeof answer === 'string' ? JSON.parse(answer) : answer) as readonly { Plan: PlanNode }[]
  const all = plans.flatMap(({ Plan }) => nodes(Plan))
  if (all.some((node) => node['Node Type'] === 'Seq Scan')) return 'every row of the table is read'
  if (all.some((node) => node['Node Type']?.endsWith('Sort') === true))
    return 'all rows that match are sorted'
  const words = new Set(all.flatMap(({ Filter = '' }) => wordsOf(Filter)))
  const vain = queue.where.find(({ column }) => words.has(column) || words.has(names.quote(column)))
  return vain && `rows are read whose ${vain.column} does not match`
}

/** The names in an expression, without the texts in it. */
function wordsOf(expression: string): readonly string[] {
  return expression.replaceAll(/'(?:[^']|'')*'/g, '').match(/"(?:[^"]|"")*"|[\w$]+/g) ?? []
}
