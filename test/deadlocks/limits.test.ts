import { describe, expect, test } from 'vitest'

import { cli } from '../cli/terminal.ts'
import { asUser, makeReader } from '../connect/account.ts'
import { describeEngines, until } from '../engines/use.ts'
import { startCuttingProxy } from '../entries/cutting-proxy.ts'
import { caught } from '../entries/stage.ts'
import { alone, change, collide, lossOf, once, run, seenWhole, stageOn } from './stage.ts'
import { libraries } from './ways.ts'

/** What the autopsy says on the wire, and nobody else. */
const asks: Readonly<Record<string, string>> = {
  postgres: 'pg_stat_activity',
  mysql: 'INNODB STATUS',
  mariadb: 'INNODB STATUS',
}

for (const { title, engines, connect } of libraries.filter((one) =>
  ['pg', 'mysql2', 'Kysely'].includes(one.title),
))
  describe(title, () => {
    describeEngines(
      (context) => {
        const stage = stageOn(context, connect)
        const silent = async (
          play: (way: ReturnType<typeof connect>, cut: Promise<void>) => Promise<void>,
        ): Promise<void> => {
          const proxy = await startCuttingProxy(context.engine.server.url)
          const way = connect(proxy.url, context.name, 2)
          const cut = proxy.cutAt(asks[context.name] ?? '', 'silent')
          try {
            await play(way, cut)
          } finally {
            proxy.mend()
            // Kysely cannot end one connection by itself: its pool finds the dead one now, and says so
            await way.close().catch(() => {})
            await proxy.close()
          }
        }

        test('a network that falls silent while the server is asked ends in words', async () => {
          await silent(async (way) => {
            const { deadlock } = await lossOf(collide({ way, engine: context.engine }, await stage.rival()))
            expect(deadlock.unseen[0]).toMatch(/no answer in 1000 ms/)
          })
        })

        test('a budget that is shorter than that ends the questions first', async () => {
          await silent(async (way) => {
            const options = { ...once, budgetMs: 300 }
            const loss = collide({ way, engine: context.engine }, await stage.rival(), options)
            const { deadlock } = await lossOf(loss)
            expect(deadlock.unseen[0]).toMatch(/no answer in [123]?\d?\d ms|no time was left of budgetMs/)
          })
        })

        test('an abort while the server is asked ends the call with its reason', async () => {
          await silent(async (way, cut) => {
            const abort = new AbortController()
            const why = new Error('enough')
            void cut.then(() => abort.abort(why))
            const loss = collide({ way, engine: context.engine }, await stage.rival(), {
              ...once,
              signal: abort.signal,
            })
            expect(await caught(loss)).toBe(why)
          })
        })

        test('in a pool of one it is told while others wait for the connection, and they go on', async () => {
          const way = connect(context.engine.server.url, context.name, 1)
          try {
            const next = (): Promise<unknown> => way.locks.transaction((tx) => way.run(tx, 'select 1'))
            const loss = await seenWhole(async () => {
              const rival = await stage.rival()
              const losing = lossOf(collide({ way, engine: context.engine }, rival))
              await Promise.all([losing, next(), next(), next()])
              await rival.rollback()
              return losing
            })
            expect(loss.deadlock.sessions).toHaveLength(2)
          } finally {
            await way.close()
          }
        })

        test('what the work throws in the place of the deadlock is thrown as it is', async () => {
          const mine = new Error('mine')
          const rival = await stage.rival()
          await run(rival, change('stock', 1))
          let waiting: Promise<unknown> | undefined
          const work = stage.way.locks.transaction(async (tx) => {
            await stage.way.run(tx, change('orders', 2))
            waiting = run(rival, change('orders', 3))
            await until(() => context.engine.isWaiting(rival), 'the rival waiting')
            await stage.way.run(tx, change('stock', 4)).catch(() => {
              throw mine
            })
          }, once)
          expect(await caught(work)).toBe(mine)
          await waiting
        })

        test('the command line shows the latest one', async () => {
          await caught(collide(stage, await stage.rival()))
          const { output, exitCode } = await cli(['deadlocks', context.engine.server.url])
          expect(exitCode).toBe(0)
          if (context.name === 'postgres') {
            expect(output).toMatch(/no deadlock is remembered[^]*deadlocks counted in this database.*: \d+/)
            return
          }
          // not every MariaDB names the right one: then nobody is called so
          if (!/ {2}- who was the victim: /.test(output)) expect(output).toMatch(/the victim: rolled back/)
          else expect([context.name, output]).toEqual(['mariadb', expect.not.stringContaining('rolled back')])
          expect(output).toMatch(/wants[^]*stock[^]*update stock set n = 4/)
          const { output: json } = await cli(['deadlocks', '--json', context.engine.server.url])
          expect(JSON.parse(json)).toMatchObject({
            dialect: context.name,
            deadlocks: [{ sessions: [{}, {}] }],
          })
        })

        test.skipIf(context.name === 'postgres')(
          'a user without PROCESS is told what is missing',
          async () => {
            const reader = { name: `r_${title.toLowerCase()}_${context.name}`, password: 'secret' }
            const remove = await makeReader(context.engine, reader)
            const admin = await context.engine.open()
            await run(admin, `grant update on *.* to '${reader.name}'@'%'`)
            const way = connect(asUser(context.engine.server.url, reader), context.name, 1)
            try {
              const { deadlock } = await lossOf(collide({ way, engine: context.engine }, await stage.rival()))
              expect(deadlock.sessions).toEqual([])
              expect(deadlock.unseen[0]).toMatch(/lacks the privilege PROCESS/)
            } finally {
              await way.close()
              await admin.close()
              await remove()
            }
          },
        )
      },
      { only: engines, alone },
    )
  })
