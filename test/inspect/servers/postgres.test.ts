import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { rawInt32PairKey, rawInt64Key } from '../../../src/core/raw-key.ts'
import { isSql, type SqlStatement } from '../../../src/core/statement.ts'
import { emit } from '../../../src/emit.ts'
import { registry } from '../../../src/registry.ts'
import type { EngineSession } from '../../engines/engine.ts'
import { openPostgresSession } from '../../engines/postgres-session.ts'
import { describeEngines, startPrivate } from '../../engines/use.ts'
import { holdsOf, isSeenWaiting, lookerOn, sessionIn } from './look.ts'
import { sceneOf, sql, type Scene } from './scene.ts'

function lockInTransaction(key: string): SqlStatement {
  const [statement] = emit('postgres', 'advisory', { key, wait: 'block' }).inTransaction
  return statement !== undefined && isSql(statement) ? statement : expect.unreachable()
}

describeEngines(
  (context) => {
    let scene: Scene
    let a: EngineSession
    let b: EngineSession

    beforeAll(async () => {
      const session = await context.engine.open()
      for (const statement of context.kind.sample.setUp) await session.run(statement)
      await session.close()
    })
    beforeEach(async () => {
      scene = await sceneOf(context)
      ;[a, b] = await Promise.all([scene.open(), scene.open()])
    })
    afterEach(() => scene.close())

    test('a unique key that another transaction inserts is a wait for that transaction', async () => {
      await a.begin()
      await a.run(sql('insert into counter values (70, 0)'))
      const wait = b.run(sql('insert into counter values (70, 0)'))
      const sight = await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      expect(sessionIn(sight, b)?.waits).toMatchObject({
        lock: { kind: 'transaction', on: expect.stringMatching(/^transaction \d+$/) },
        blockedBy: [a.id],
      })
      await a.rollback()
      await wait
      await b.run(sql('delete from counter where id = 70'))
    })

    test.each([
      ['the greatest', rawInt64Key(2n ** 63n - 1n), `name ${2n ** 63n - 1n}`],
      ['the smallest', rawInt64Key(-(2n ** 63n)), `name ${-(2n ** 63n)}`],
      ['a small negative', rawInt64Key(-5), 'name -5'],
      ['a pair', rawInt32PairKey(-1, 7), 'name -1, 7'],
    ])('numbers of other code are told as they are, and without a key: %s', async (_, key, on) => {
      const [take] = emit('postgres', 'advisory', { key, scope: 'session', wait: 'nowait' }).beforeBegin
      await a.run(take ?? expect.unreachable())
      expect(holdsOf(await scene.look(), a)).toEqual([{ kind: 'name', mode: 'ExclusiveLock', on }])
    })

    test('keys are told of locks that travelled with BEGIN, several at a time', async () => {
      const texts = ['orders', 'stock'].map(
        (key) => registry.postgres.named.inHead?.(lockInTransaction(key))?.sql,
      )
      await a.run(sql(['begin', ...texts].join('; ')))
      const wait = b.run(lockInTransaction('stock'))
      const sight = await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      expect(
        holdsOf(sight, a)
          .map(({ key }) => String(key))
          .toSorted(),
      ).toEqual(['orders', 'stock'])
      expect(sessionIn(sight, b)?.waits?.lock.key).toBe('stock')
      await a.rollback()
      await wait
    })

    test('a comment that is not ours names nothing, and a key is not guessed among several', async () => {
      await a.run(sql("select pg_advisory_lock(5) /* hf:\u001b[31m */, '/* hf:wrong */'"))
      expect(holdsOf(await scene.look(), a)).toEqual([{ kind: 'name', mode: 'ExclusiveLock', on: 'name 5' }])
      const [take] = emit('postgres', 'advisory', {
        key: 'second',
        scope: 'session',
        wait: 'block',
      }).beforeBegin
      await a.run(take ?? expect.unreachable())
      expect(holdsOf(await scene.look(), a).map(({ key }) => key)).toEqual([undefined, undefined])
    })

    test.each(['9.5', '9.6', '13'])(
      'a server of version %s is asked only for what it has',
      async (version) => {
        const older = await sceneOf(context, { version })
        const text = JSON.stringify(
          older.tools.inspector.questions('server', registry.postgres.readVersion(version)),
        )
        expect([text.includes('waitstart'), text.includes('pg_blocking_pids')]).toEqual([
          false,
          version !== '9.5',
        ])
        await a.begin()
        await a.run(sql('select n from counter where id = 1 for update'))
        const wait = b.run(sql('update counter set n = n + 1 where id = 1'))
        const sight = await older.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
        expect(sessionIn(sight, b)?.waits).toMatchObject({ lock: { kind: 'row' }, blockedBy: [a.id] })
        await a.rollback()
        await wait
        await older.close()
      },
    )

    test('a table that is being made has no name yet, and is told by its number', async () => {
      await a.begin()
      await a.run(sql('create table fresh (id int)'))
      expect(holdsOf(await scene.look(), a)).toContainEqual({
        kind: 'table',
        mode: 'AccessExclusiveLock',
        on: expect.stringMatching(/^table number \d+$/),
      })
      await a.rollback()
    })
  },
  { only: ['postgres'] },
)

describe('postgres', () => {
  test('a prepared transaction, which has no session, is told by its name', async ({ skip }) => {
    const own = await startPrivate('postgres')
    if ('unavailable' in own) return skip(own.unavailable)
    try {
      const first = await openPostgresSession(own.server.url)
      await first.run(sql('alter system set max_prepared_transactions = 2'))
      await first.close()
      await own.restart()
      const [a, b, self] = await Promise.all([1, 2, 3].map(() => openPostgresSession(own.server.url)))
      if (a === undefined || b === undefined || self === undefined) return expect.unreachable()
      const { lookUntil } = await lookerOn(self, { name: 'postgres', version: own.server.version })
      await a.run(sql('create table counter (id int primary key, n int)'))
      await a.run(sql('insert into counter values (1, 0)'))
      await a.run(sql("begin; update counter set n = 1 where id = 1; prepare transaction 'half done'"))
      const wait = b.run(sql('update counter set n = 2 where id = 1'))
      const sight = await lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      expect(sessionIn(sight, b)?.waits).toMatchObject({
        lock: { kind: 'row' },
        blockedBy: ['prepared half done'],
      })
      expect(sessionIn(sight, { id: 'prepared half done' })).toMatchObject({
        state: 'idle-in-transaction',
        holds: [{ kind: 'table', on: 'table public.counter' }],
      })
      await self.run(sql("rollback prepared 'half done'"))
      await wait
      await Promise.all([a, b, self].map((session) => session.close()))
    } finally {
      await own.stop()
    }
  }, 600_000)
})
