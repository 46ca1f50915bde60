import type { Statement } from '../../core/statement.ts'
import type { DeclaredStatement } from '../../locks/batch/statement.ts'
import { ignoresExpectations } from '../controls/batch-defects.ts'
import { unlocked } from '../controls.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { expectRefusal } from './taking.ts'

const noBatches = ({ dialect }: Facts): string | undefined =>
  dialect.declared === undefined ? 'a batch is made of SQL' : undefined

/** Statements that are known beforehand, under a lock. */
export const batchLaws: readonly Law[] = [
  defineLaw({
    id: 'A25',
    says: 'A batch waits for who holds its lock, and reads what that one has committed.',
    features: ['advisory'],
    rows: { 1: 10 },
    unless: noBatches,
    trial: behindAHolder,
    control: unlocked,
  }),
  defineLaw({
    id: 'A26',
    says: 'A batch is stored as a whole: nothing of one that failed, or whose rows were not as expected.',
    features: ['advisory'],
    rows: { 1: 10 },
    unless: noBatches,
    trial: allOrNothing,
    control: unlocked,
  }),
  defineLaw({
    id: 'A27',
    says: 'Of many batches that want the last of something one is stored, and the others are told.',
    features: ['advisory'],
    rows: { 1: 1, 2: 0 },
    unless: noBatches,
    trial: theLastOne,
    control: ignoresExpectations,
  }),
]

async function behindAHolder(stage: Stage): Promise<void> {
  const holder = await stage.actor('a')
  const { locks } = await stage.client('b')
  const { signal, facts } = stage
  const reading = [declared(facts.tools.fixture.read(stage.table, 1))]
  const read = (options: { readonly wait?: 'nowait' }) =>
    stage.note('b', 'run a batch', locks.batch(stage.keyOf('k'), reading, { ...options, signal }))
  await stage.note('a', 'take the lock', holder.perform({ verb: 'begin-locked', key: 'k' }))
  const refusal = { does: 'a batch that is not to wait', code: 'LOCK_NOT_AVAILABLE' } as const
  await expectRefusal(stage, refusal, read({ wait: 'nowait' }))
  const waiting = read({})
  waiting.catch(() => {}) // looked at below, unless the law is broken before
  const isInServer = facts.plan('advisory', { wait: 'block' })?.waiting.by === 'server'
  await stage.untilWaiting('a batch under a lock that another holds', waiting, isInServer ? 1 : 0)
  await stage.note('a', 'write 11', holder.perform({ verb: 'write', id: 1, n: 11 }))
  await stage.note('a', 'commit', holder.perform({ verb: 'commit' }))
  const seen = (await waiting)?.[0]?.[0]?.n
  stage.expect(Number(seen) === 11, `it has read ${String(seen)}, not 11`)
}

async function allOrNothing(stage: Stage): Promise<void> {
  const { locks } = await stage.client('a')
  const { fixture } = stage.facts.tools
  const { table, signal } = stage
  const adding = declared(fixture.add(table, 1, 5))
  const finding = (id: number) => ({ ...declared(fixture.read(table, id)), expect: { rows: 1 } })
  const runAfterAdding = (does: string, next: DeclaredStatement) =>
    stage.note('a', does, locks.batch(stage.keyOf('k'), [adding, next], { signal }))
  const missed = await runAfterAdding('expect a row that is not there', finding(2))
  stage.expect(missed === undefined, 'a batch that has missed a row was reported as stored')
  const twice = runAfterAdding('store a row twice', declared(fixture.insert(table, { id: 1, n: 0 })))
  const failure = await twice.then(
    () => undefined,
    (error: unknown) => error,
  )
  stage.expect(failure !== undefined, 'a batch with a statement that fails was reported as stored')
  const before = (await stage.committed()).get(1)
  stage.expect(before === 10, `of batches that were not stored, row 1 is ${before}, not 10`)
  const stored = await runAfterAdding('expect a row that is there', finding(1))
  stage.expect(Number(stored?.[1]?.[0]?.n) === 15, 'a batch does not read what it has written')
  const after = (await stage.committed()).get(1)
  stage.expect(after === 15, `of a batch that was stored, row 1 is ${after}, not 15`)
}

async function theLastOne(stage: Stage): Promise<void> {
  const { fixture } = stage.facts.tools
  const { table, signal } = stage
  const taking = { ...declared(fixture.delete(table, 1)), expect: { rows: 1 } }
  const counting = declared(fixture.add(table, 2, 1))
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => stage.client(name)))
  const sales = [...clients, ...clients].map(({ locks }) =>
    locks.batch(stage.keyOf('k'), [taking, counting], { signal }),
  )
  const sold = (await Promise.all(sales)).filter((result) => result !== undefined)
  stage.expect(sold.length === 1, `${sold.length} of ${sales.length} batches have got the last one`)
  const counted = (await stage.committed()).get(2)
  stage.expect(counted === 1, `the last one was counted ${counted} times`)
}

function declared(statement: Statement): DeclaredStatement {
  if (!('sql' in statement)) throw new TypeError('a batch is made of SQL')
  return { sql: statement.sql, params: statement.params }
}
