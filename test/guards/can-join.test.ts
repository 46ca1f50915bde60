import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import type { Plan } from '../../src/core/plan.ts'
import type { Isolation } from '../../src/core/request.ts'
import type { Session } from '../../src/core/session.ts'
import type { Statement } from '../../src/core/statement.ts'
import { emit } from '../../src/emit.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { subjects, type Connected } from '../adapters/subject.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

/** What a transaction reads that took the lock when it was under way: what the last holder stored, or what was before. */
type Outcome = 'fresh' | 'stale' | 'refused'

type Case = readonly [isolation: Isolation | undefined, outcome: Outcome]

const userLocks: readonly Case[] = [
  ['read uncommitted', 'fresh'],
  ['read committed', 'fresh'],
  ['repeatable read', 'stale'],
  ['serializable', 'fresh'],
]
const cases: Readonly<Record<string, readonly Case[]>> = {
  postgres: [
    ['read uncommitted', 'fresh'],
    ['read committed', 'fresh'],
    ['repeatable read', 'stale'],
    ['serializable', 'stale'],
  ],
  mysql: userLocks,
  mariadb: userLocks,
  sqlite: [[undefined, 'refused']],
  duckdb: [[undefined, 'refused']],
  mongodb: [
    [undefined, 'refused'],
    ['snapshot', 'refused'],
  ],
}

describeEngines(specs, { only: Object.keys(cases) })

function specs(context: EngineContext): void {
  const name = context.name as DialectName
  const { named } = registry[name]
  let connected: Connected
  beforeAll(async () => {
    const subject = subjects.find(
      ({ title, engines }) => engines.includes(name) && !title.includes('one handle'),
    )
    connected = (await subject?.connect(context.engine.server.url)) ?? expect.unreachable()
    await outside([...context.kind.sample.setUp, ...elsewhere(name).make])
  })
  afterAll(() => connected.close())
  const plan = emit(name, 'advisory', { key: 'joined' })
  beforeEach(() => outside(plan.needs))

  const outside = async (statements: readonly Statement[]): Promise<void> => {
    const session = await context.engine.open()
    for (const statement of statements) await session.run(statement)
    await session.close()
  }
  const read = async (session: Session): Promise<number> =>
    Number((await session.run(context.kind.sample.read))[0]?.n)

  /** One transaction looks elsewhere, another takes the lock and counts, and then the first takes the lock and reads. */
  const joinLate = async (isolation: Isolation | undefined, lock: Plan): Promise<Outcome> => {
    const [late, holder] = [await connected.sessions.open(), await connected.sessions.open()]
    const mode = lock.begin === undefined ? {} : { mode: lock.begin }
    try {
      await late.begin({ ...(isolation && { isolation }), ...mode })
      await late.run(elsewhere(name).look)
      const before = await hold(holder, lock)
      for (const statement of [...lock.beforeBegin, ...lock.inTransaction]) await late.run(statement)
      return (await read(late)) === before ? 'stale' : 'fresh'
    } catch {
      return 'refused'
    } finally {
      await late.rollback()
      for (const statement of lock.afterEnd) await late.run(statement)
      await Promise.all([late.release(), holder.release()])
    }
  }
  /** Takes the lock, adds one, commits, releases. Gives the number before. */
  const hold = async (session: Session, lock: Plan): Promise<number> => {
    for (const statement of lock.beforeBegin) await session.run(statement)
    await session.begin(lock.begin === undefined ? {} : { mode: lock.begin })
    try {
      for (const statement of lock.inTransaction) await session.run(statement)
      const before = await read(session)
      await session.run(context.kind.sample.increment)
      await session.commit()
      return before
    } finally {
      await session.rollback()
      for (const statement of lock.afterEnd) await session.run(statement)
    }
  }

  test.each(cases[name] ?? [])(
    'at %s, what a transaction reads that takes the lock late is %s: it may take it unless that is stale',
    async (isolation, outcome) => {
      expect(await joinLate(isolation, plan)).toBe(outcome)
      expect(named.canJoin(isolation)).toBe(outcome !== 'stale')
    },
  )

  if (named.defaultIsolation !== undefined) {
    const { ask, read: levelIn } = named.defaultIsolation
    test('a transaction may not be joined at a level that is not known', () => {
      expect(named.canJoin(undefined)).toBe(false)
    })

    test('the server tells the level of a transaction that asks for none', async () => {
      const session = await connected.sessions.open()
      const [row] = await session.run(ask)
      expect(levelIn(row)).toBe(name === 'postgres' ? 'read committed' : 'repeatable read')
      await session.run({ sql: changeDefault(name), params: [] })
      expect(levelIn((await session.run(ask))[0])).toBe('serializable')
      await session.destroy(new Error('its default has been changed'))
    })
  } else if (named.keptBy === 'lease') {
    test('without the guard, a transaction under way reads what was before the last holder', async () => {
      const bare = { ...plan, inTransaction: [] }
      // where the transaction itself is the lock there is nothing to leave out
      expect(await joinLate(undefined, bare)).toBe(plan.begin === undefined ? 'stale' : 'refused')
    })
  }
}

function changeDefault(name: DialectName): string {
  return name === 'postgres'
    ? "set default_transaction_isolation = 'serializable'"
    : 'set session transaction isolation level serializable'
}

/** A place that nobody writes to: whoever looks at it has begun to read. */
function elsewhere(name: DialectName): { readonly make: readonly Statement[]; readonly look: Statement } {
  if (name === 'mongodb') {
    return {
      make: [{ command: { insert: 'elsewhere', documents: [{ _id: 1 }] } }],
      look: { command: { find: 'elsewhere' } },
    }
  }
  return {
    make: [{ sql: 'create table elsewhere (id int)', params: [] }],
    look: { sql: 'select count(*) from elsewhere', params: [] },
  }
}
