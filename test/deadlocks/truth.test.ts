import { describe, expect, test } from 'vitest'

import { describeEngines, until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { change, describeLibraries, lossOf, once, run, seenWhole, stageOn } from './stage.ts'
import { libraries } from './ways.ts'

describeLibraries((stage) => {
  test('a statement that has failed before, and was got over, is not told as the one that has lost', async () => {
    const { deadlock } = await seenWhole(async () => {
      const rival = await stage.rival()
      await run(rival, change('stock', 1))
      let waiting: Promise<unknown> | undefined
      const work = stage.way.locks.transaction(async (tx) => {
        await stage.way.run(tx, 'savepoint mine')
        await caught(stage.way.run(tx, 'insert into stock values (2, 0)'))
        await stage.way.run(tx, 'rollback to savepoint mine')
        await stage.way.run(tx, change('orders', 2))
        waiting = run(rival, change('orders', 3))
        await until(() => stage.engine.isWaiting(rival), 'the rival waiting')
        await stage.way.run(tx, change('stock', 4))
      }, once)
      const loss = await lossOf(work)
      await waiting
      await rival.rollback()
      return loss
    })
    const [victim, other] = deadlock.sessions
    expect(victim?.statement).toBe(change('stock', 4))
    expect(other?.statement).toBe(change('orders', 3))
    if (stage.name === 'postgres') expect(victim?.ran).toContain(change('orders', 2))
  })
})

for (const { title, engines, connect } of libraries.filter(({ engines: all }) => all.includes('postgres')))
  describe(title, () => {
    describeEngines(
      (context) => {
        const stage = stageOn(context, connect)

        test('a row against a name: each as what it is, and the key in clear', async () => {
          const { locks } = stage.way
          const key = ['row against name', title] as const
          const holding = await context.engine.open()
          let number: unknown
          await locks.withLock(key, async () => {
            const [row] = await holding.run({
              // of this database: the server has others, where other files have their locks
              sql: `select ((classid::bigint << 32) | objid::bigint)::text as n from pg_locks
                where locktype = 'advisory' and objsubid = 1
                  and database = (select oid from pg_database where datname = current_database())`,
              params: [],
            })
            number = row?.n
          })
          await holding.close()
          const rival = await stage.rival()
          await run(rival, change('stock', 1))
          let waiting: Promise<unknown> | undefined
          const { deadlock } = await lossOf(
            locks.withLock(
              key,
              async (tx) => {
                await stage.way.run(tx, 'select 1')
                waiting = run(rival, `select pg_advisory_xact_lock(${String(number)})`)
                await until(() => context.engine.isWaiting(rival), 'the rival waiting')
                await stage.way.run(tx, change('stock', 4))
              },
              once,
            ),
          )
          await waiting
          const [victim, other] = deadlock.sessions
          expect(victim?.waits).toMatchObject({ lock: { kind: 'row' }, blockedBy: [rival.id] })
          expect(victim?.waits?.lock.on).toMatch(/^a row of stock /)
          expect(victim?.holds.map((lock) => lock.key)).toEqual([key.join('.')])
          expect(other).toMatchObject({ id: rival.id, waits: { lock: { kind: 'name', key: key.join('.') } } })
        })

        test.each(['we"ird', "it's", 'a«b»', 'sp ace', 'x; drop'])('a table called %s', async (name) => {
          const quoted = `"${name.replaceAll('"', '""')}"`
          const admin = await context.engine.open()
          await run(admin, `create table ${quoted} (id int primary key, n int)`)
          await run(admin, `insert into ${quoted} values (1, 0)`)
          const rival = await stage.rival()
          await run(rival, change(quoted, 1))
          let waiting: Promise<unknown> | undefined
          const { deadlock } = await lossOf(
            stage.way.locks.transaction(async (tx) => {
              await stage.way.run(tx, change('orders', 2))
              waiting = run(rival, change('orders', 3))
              await until(() => context.engine.isWaiting(rival), 'the rival waiting')
              await stage.way.run(tx, `${change(quoted, 4)} -- ${'long '.repeat(5000)}`)
            }, once),
          )
          await waiting
          await rival.rollback()
          await run(admin, `drop table ${quoted}`)
          await admin.close()
          expect(deadlock.sessions[0]?.waits?.lock.on).toMatch(/^a row of /)
          expect(deadlock.sessions[0]?.waits?.lock.on.startsWith(`a row of ${name} (`)).toBe(true)
        })
      },
      { only: engines.filter((engine) => engine === 'postgres') },
    )
  })
