import { isSql, type Statement } from '../../src/core/statement.ts'
import { reached } from '../../src/core/on-demand.ts'
import type { Version } from '../../src/core/version.ts'
import type { ClaimStatements, EndPlan, TakeStep } from '../../src/dialects/claim.ts'
import type { EnqueueStatements } from '../../src/dialects/enqueue.ts'
import type { BuiltinDialect } from '../../src/dialects/dialect.ts'
import type { ClaimIndex } from '../../src/dialects/tools.ts'
import { looksOfDead } from '../../src/locks/queue/dead-looks.ts'
import type { Queue } from '../../src/locks/queue/queue-definition.ts'
import { queue } from '../../src/locks/queue/queue.ts'

const jobs = queue({
  table: ['app', 'job'],
  id: 'id',
  orderBy: [{ column: 'priority', direction: 'desc' }],
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', worker: 'claimed_by', attempts: 'attempts' },
  done: { set: { state: 'done', note: "it's done" } },
  dead: { afterAttempts: 5, set: { state: 'dead' } },
})

const mails = queue({
  table: 'mail',
  id: 'key',
  orderBy: 'key',
  where: { kind: ['a', 'b'], sent_at: null },
  claim: { token: 'token', until: 'until' },
  done: 'delete',
})

const held = { id: 7, token: 'a-token' }
const terms = { token: 'a-token', worker: 'w1', limit: 10, visibilityMs: 30_000 }

/** A statement, and what it is for. */
export interface Shown {
  readonly title: string
  readonly statement: Statement
}

/** Everything that a dialect may send about two queues. */
export async function claimCases(
  {
    claim,
    tools,
    readVersion,
    name,
    enqueue,
  }: Pick<BuiltinDialect<string>, 'claim' | 'tools' | 'readVersion' | 'name' | 'enqueue'>,
  version: string,
): Promise<readonly Shown[]> {
  const { claimIndex } = await tools()
  const server = { claim: await reached(claim), claimIndex, version: readVersion(version) }
  // a collection's name has one part
  const first: Queue = name === 'mongodb' ? { ...jobs, shape: { ...jobs.shape, table: 'job' } } : jobs
  return [
    ...casesOf(server, first).map((one) => ({ ...one, title: `jobs: ${one.title}` })),
    ...casesOf(server, mails).map((one) => ({ ...one, title: `mails: ${one.title}` })),
    ...newJobs(await enqueue()).map((one) => ({ ...one, title: `new jobs: ${one.title}` })),
  ]
}

function newJobs({ insert, find, index }: EnqueueStatements): readonly Shown[] {
  const { shape } = queue({
    table: 'mail',
    id: 'id',
    orderBy: 'id',
    where: { state: 'ready' },
    claim: { token: 'token', until: 'until', unique: 'waits_for' },
    done: 'delete',
  })
  const columns = ['state', 'waits_for']
  const rows = [
    ['ready', 'a'],
    ['ready', 'b'],
  ]
  const asked = index?.(shape)
  return [
    { title: 'store', statement: insert(shape, { columns: ['state'], rows: [['ready']], isUnique: false }) },
    { title: 'store unless there', statement: insert(shape, { columns, rows, isUnique: true }) },
    ...find(shape, ['a', 'b'], false).map((statement) => ({ title: 'find', statement })),
    ...find(shape, ['a', 'b'], true).map((statement) => ({ title: 'find and keep', statement })),
    ...(asked === undefined ? [] : [{ title: 'is the index there', statement: asked.ask }]),
    ...(asked === undefined ? [] : [{ title: 'make it', statement: { sql: asked.create, params: [] } }]),
  ]
}

interface Server {
  readonly claim: ClaimStatements
  readonly claimIndex: ClaimIndex
  readonly version: Version
}

function casesOf({ claim, claimIndex, version }: Server, { shape, done, dead }: Queue): readonly Shown[] {
  const many = claim.take(shape, terms, version)
  const one = claim.take(shape, { ...terms, worker: undefined, limit: 1 }, version)
  const shown = (title: string, statements: readonly (TakeStep | undefined)[]): readonly Shown[] =>
    statements
      .filter((step) => step !== undefined)
      .map((step) => ({
        title,
        statement: typeof step === 'function' ? step([{ [shape.id]: 7 }, { [shape.id]: 8 }]) : step,
      }))
  return [
    ...shown('claim 10', many.steps),
    ...shown('claim 10, their order', [many.arrange]),
    ...shown('claim 1', one.steps),
    ...shown('complete', claim.complete(shape, held, done).statements),
    ...shown(
      'complete in a transaction',
      claim.complete(shape, { ...held, inTransaction: true }, done).statements,
    ),
    ...shown('complete 3', endOf(claim.completeAll?.(shape, { ids: [7, 8, 9], token: 'a-token' }, done))),
    ...shown('release', claim.release(shape, held, 0).statements),
    ...shown('release for later', claim.release(shape, held, 5000).statements),
    ...shown('release as if never claimed', claim.unclaim(shape, held).statements),
    ...shown('extend', claim.extend(shape, held, 30_000).statements),
    ...shown('give back', claim.giveBack(shape, 1000, version).statements),
    ...shown('put aside', dead ? claim.bury(shape, { set: dead, limit: 1000 }, version).statements : []),
    ...shown('count', [
      claim.tally(shape).statement,
      dead && claim.tallyDead(shape, looksOfDead({ shape, done }, dead)).statement,
    ]),
    ...shown('index', claimIndex.index(shape, version)),
    ...shown('is it used', [...(claimIndex.scan?.head ?? []), claimIndex.scan?.ask(shape)]),
    ...shown('announce', [claim.announce?.(shape)]),
  ]
}

function endOf(plan: EndPlan | undefined): readonly (Statement | undefined)[] {
  return [plan?.look, plan?.change]
}

export function textOf(statement: Statement): string {
  if (!isSql(statement)) return JSON.stringify(statement.command)
  const params = statement.params.length === 0 ? '' : `\n  -- ${JSON.stringify(statement.params)}`
  return statement.sql + params
}
