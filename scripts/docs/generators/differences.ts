import { reached } from '../../../src/core/on-demand.ts'
import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import { isFeature, type Feature } from '../../../src/conformance/feature.ts'
import { codeInKey } from '../../../src/core/classification.ts'
import { retryableKinds } from '../../../src/core/error-kind.ts'
import { isCategory } from '../../../src/core/category.ts'
import { isSql, type Statement } from '../../../src/core/statement.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { queue } from '../../../src/locks/queue/queue.ts'
import { registry } from '../../../src/registry.ts'
import { explained, sentBriefly, type Explained } from '../explained.ts'
import { code, prose } from '../markdown.ts'
import type { Generator } from '../place.ts'

/**
 * What each database makes of a category, or of one of the features that the laws know besides: `lease`, `claim`,
 * `advisory-session`, `retry`. One table for each.
 */
export const differences: Generator = async (args) => {
  const unknown = args.find((name) => !isFeature(name))
  if (args.length === 0 || unknown !== undefined) {
    throw new Error(
      `${unknown ?? 'nothing'} is not a category, nor one of lease, claim, advisory-session, retry`,
    )
  }
  const tables = args.filter(isFeature).map(async (feature) => {
    const rows = await Promise.all(Object.values(registry).map((dialect) => rowOf(dialect, feature)))
    const title = args.length === 1 ? [] : [`**${feature}**`]
    return [...title, markdownTable([headOf(feature), ...rows])].join('\n\n')
  })
  return (await Promise.all(tables)).join('\n\n')
}

function headOf(feature: Feature): readonly string[] {
  if (feature === 'retry') return ['database', ...retryableKinds]
  if (feature === 'lease' || feature === 'claim') return ['database', 'round trips', 'what is sent']
  return ['database', 'support', 'what is sent', 'notes']
}

async function rowOf(dialect: Dialect, feature: Feature): Promise<readonly string[]> {
  if (feature === 'retry') return [dialect.title, ...codesOf(dialect)]
  if (feature === 'lease') return [dialect.title, ...trips(leaseSteps(dialect))]
  if (feature === 'claim') return [dialect.title, ...trips(await claimSteps(dialect))]
  const found = isCategory(feature)
    ? explained(dialect, feature)
    : explained(dialect, 'advisory', { key: ['report', 7], scope: 'session' })
  if (found.isRefused)
    return [dialect.title, 'refused', '', `${prose(found.why)}. Instead: ${prose(found.instead)}`]
  return [dialect.title, found.support, lockOf(found), prose(found.note ?? '')]
}

/** What takes the lock; not what reads the rows, nor what has to be there before. */
function lockOf({ statements }: Explained): string {
  const begin = statements.findIndex(({ label }) => label === 'begin')
  const parts = statements.flatMap(({ label, text }, place) => {
    if (label === 'begin') return text === 'BEGIN' ? [] : [code(text)]
    if (label === 'hints') return [code(`WITH (${text})`)]
    if (!['lock', 'set', 'clause', 'touch'].includes(label)) return []
    return [place < begin ? `${sentBriefly(text)} before ${code('BEGIN')}` : sentBriefly(text)]
  })
  return parts.join('<br>')
}

/** The server's codes for each kind that is worth another attempt. */
function codesOf({ errors }: Dialect): readonly string[] {
  return retryableKinds.map((kind) => {
    const keys = Object.entries(errors.codes).filter(([, meaning]) => meaning.kind === kind)
    return [...new Set(keys.map(([key]) => code(codeInKey(key))))].join(', ')
  })
}

function trips(steps: readonly Statement[]): readonly string[] {
  return [String(steps.length), steps.map((step) => sentBriefly(textOf(step), 160)).join('<br>')]
}

function leaseSteps({ lease }: Dialect): readonly Statement[] {
  return lease.acquire({ name: 'name', owner: 'owner', ttlMs: 30_000 })
}

const jobs = queue({
  table: 'job',
  id: 'id',
  orderBy: { column: 'priority', direction: 'desc' },
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: { set: { state: 'done' } },
})

async function claimSteps({ claim, readVersion, versions }: Dialect): Promise<readonly Statement[]> {
  const terms = { token: 'token', worker: undefined, limit: 10, visibilityMs: 30_000 }
  const { take } = await reached(claim)
  const { steps } = take(jobs.shape, terms, readVersion(versions.assumed))
  return steps.map((step) => (typeof step === 'function' ? step([{ id: 7, _id: 7 }]) : step))
}

function textOf(statement: Statement): string {
  const text = isSql(statement) ? statement.sql : JSON.stringify(statement.command)
  return text.replaceAll(/\s+/g, ' ').trim()
}
