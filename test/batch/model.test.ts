import { afterAll, beforeAll, expect, test } from 'vitest'

import type { DeclaredStatement } from '../../src/locks/batch/statement.ts'
import { describeEntries, type Stage } from '../entries/stage.ts'
import { randomFrom, type Random } from '../faults/random.ts'

const batches = 60
const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)

describeEntries(specs, ['mongodb'])

type Shelf = ReadonlyMap<number, number>
type Expected = { readonly rows: number } | { readonly atLeast: number } | undefined

/** What a statement makes of the shelf, and how many rows it gives or changes. Undefined: an error. */
interface Step {
  readonly statement: DeclaredStatement
  readonly on: (shelf: Shelf) => { readonly shelf: Shelf; readonly count: number } | undefined
  readonly isRead?: true
}

/** What becomes of a batch, by the words of its page and nothing else. */
function foretell(steps: readonly Step[], before: Shelf): { shelf: Shelf; outcome: unknown } {
  let shelf = before
  const outcome: unknown[] = []
  for (const { statement, on, isRead } of steps) {
    const done = on(shelf)
    if (done === undefined) return { shelf: before, outcome: 'an error' }
    const isRight = isExpected(statement.expect, done.count)
    if (!isRight) return { shelf: before, outcome: undefined }
    outcome.push(isRead === true ? listed(shelf) : [])
    shelf = done.shelf
  }
  return { shelf, outcome }
}

function isExpected(expected: Expected, count: number): boolean {
  if (expected === undefined) return true
  return 'rows' in expected ? count === expected.rows : count >= expected.atLeast
}

/** A random statement, and what it does. */
function stepOf(random: Random, engine: string): Step {
  const mark = (position: number): string => (engine === 'postgres' ? `$${position}` : '?')
  const [id, limit] = [1 + random.below(5), random.below(4)]
  const writing: Record<string, () => Step> = {
    insert: () => ({
      statement: { sql: `insert into shelf (id, n) values (${mark(1)}, ${mark(2)})`, params: [id, limit] },
      on: (shelf) => (shelf.has(id) ? undefined : { shelf: new Map([...shelf, [id, limit]]), count: 1 }),
    }),
    take: () => ({
      statement: { sql: `update shelf set n = n - 1 where id = ${mark(1)} and n > 0`, params: [id] },
      on: (shelf) => changed(shelf, ([one, n]) => (one === id && n > 0 ? n - 1 : n)),
    }),
    fill: () => ({
      statement: { sql: `update shelf set n = n + 1 where n < ${mark(1)} -- all`, params: [limit] },
      on: (shelf) => changed(shelf, ([, n]) => (n < limit ? n + 1 : n)),
    }),
    read: () => ({ statement: reading, on: (shelf) => ({ shelf, count: shelf.size }), isRead: true }),
    remove: () => ({
      statement: { sql: `delete from shelf where n > ${mark(1)}`, params: [limit] },
      on: (shelf) => {
        const kept = [...shelf].filter(([, n]) => n <= limit)
        return { shelf: new Map(kept), count: shelf.size - kept.length }
      },
    }),
  }
  const step = random.pick(Object.values(writing))()
  if (random.next() < 0.5) return step
  const expected = random.next() < 0.5 ? { rows: random.below(3) } : { atLeast: random.below(3) }
  return { ...step, statement: { ...step.statement, expect: expected } }
}

function changed(
  shelf: Shelf,
  to: (row: readonly [number, number]) => number,
): { shelf: Shelf; count: number } {
  const rows = [...shelf].map((row) => [row[0], to(row)] as const)
  return { shelf: new Map(rows), count: rows.filter(([id, n]) => shelf.get(id) !== n).length }
}

const reading = { sql: 'select id, n from shelf order by id' }

function pairs(rows: readonly unknown[]): readonly (readonly number[])[] {
  return (rows as readonly { readonly id: unknown; readonly n: unknown }[]).map(({ id, n }) => [
    Number(id),
    Number(n),
  ])
}

function listed(shelf: Shelf): readonly (readonly [number, number])[] {
  return [...shelf].toSorted(([a], [b]) => a - b)
}

function specs(stage: Stage): void {
  const key = ['batch model', stage.name]
  const send = async (sql: string): Promise<void> => {
    const session = await stage.engine.open()
    await session.run({ sql, params: [] }).finally(() => session.close())
  }
  beforeAll(() => send('create table shelf (id integer primary key, n integer not null)'))
  afterAll(() => send('drop table shelf'))

  test(`${batches} random batches do what their page says`, async () => {
    const random = randomFrom(seed)
    const { locks } = stage.entry
    let shelf: Shelf = new Map()
    const seen = { stored: 0, undone: 0, failed: 0 }
    for (let left = batches; left > 0; left -= 1) {
      const steps = Array.from({ length: 1 + random.below(4) }, () => stepOf(random, stage.name))
      const foretold = foretell(steps, shelf)
      const outcome = await locks
        .batch(
          key,
          steps.map(({ statement }) => statement),
        )
        .then(
          (rows) => rows?.map(pairs),
          () => 'an error',
        )
      const said = `HOLDFAST_SEED=${seed}, ${JSON.stringify(steps.map(({ statement }) => statement))}`
      expect(outcome, said).toEqual(foretold.outcome)
      const [rows] = (await locks.batch(key, [reading])) ?? []
      expect(pairs(rows ?? []), said).toEqual(listed(foretold.shelf))
      shelf = foretold.shelf
      seen[outcome === undefined ? 'undone' : outcome === 'an error' ? 'failed' : 'stored'] += 1
    }
    for (const count of Object.values(seen)) expect(count, `HOLDFAST_SEED=${seed}`).toBeGreaterThan(0)
  })
}
