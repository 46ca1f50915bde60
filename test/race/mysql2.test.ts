import type { Connection as CoreConnection } from 'mysql2'
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/mysql2.ts'
import { assertNoRace, explore, type RaceEvent } from '../../src/entries/race.ts'
import { describeEngines, until } from '../engines/use.ts'
import { patient } from './six.ts'

/* What is sent on a connection of mysql2 in other ways than a query that is awaited. */

describeEngines(
  (context) => {
    let pool: Pool
    let locks: ReturnType<typeof createLocks<PoolConnection>>
    beforeAll(async () => {
      pool = createPool({ uri: context.engine.server.url })
      locks = createLocks(pool)
      await pool.query('CREATE TABLE odd (id int PRIMARY KEY, n int NOT NULL)')
    })
    beforeEach(async () => void (await pool.query('REPLACE INTO odd VALUES (1, 0)')))
    afterAll(() => pool.end())

    const add = 'UPDATE odd SET n = n + 1 WHERE id = 1'
    const within = (work: (tx: PoolConnection) => Promise<unknown>) => (): Promise<unknown> =>
      locks.transaction((tx) => work(tx))
    const base = () => ({ db: pool, switches: 1, ...patient })
    const alone = async (work: () => Promise<unknown>): Promise<readonly RaceEvent[]> => {
      const traces: (readonly RaceEvent[])[] = []
      const onProgress = ({ last }: { last: { trace: readonly RaceEvent[] } }) => void traces.push(last.trace)
      const b = (): Promise<unknown> => pool.query('SELECT 1')
      await explore({ ...base(), actors: { a: work, b }, switches: 0, onProgress })
      return traces[0]?.filter(({ actor }) => actor === 'a') ?? []
    }
    const told = (trace: readonly RaceEvent[]): readonly string[] =>
      trace.map(({ does, outcome }) => `${does}: ${outcome}`)

    test('what a transaction of ours does not await is stored in it, and is part of its schedule', async () => {
      const float = within(async (tx) => {
        void tx.query(add)
        void tx.execute(add)
      })
      const report = await assertNoRace({
        ...base(),
        reset: () => pool.query('UPDATE odd SET n = 0'),
        actors: { a: float, b: float },
        invariant: async (results) => {
          const [rows] = await pool.query('SELECT n FROM odd')
          expect([rows, results.a.status, results.b.status]).toEqual([[{ n: 4 }], 'fulfilled', 'fulfilled'])
        },
      })
      expect(report.completeSwitches).toBeGreaterThanOrEqual(1)
    })

    test('a statement that cannot be prepared is told as one that was not sent', async () => {
      const wrong = 'UPDATE od SET n = 1'
      const byHand = async (): Promise<void> => {
        const connection = await pool.getConnection()
        await connection.execute(wrong).catch(() => {})
        await connection.execute(add)
        connection.release()
      }
      const steps = [
        `PREPARE ${wrong}: failed`,
        `${wrong} (not sent): done`,
        `PREPARE ${add}: done`,
        `${add}: done`,
      ]
      expect(told(await alone(byHand))).toEqual(steps)
      const ours = within(async (tx) => {
        await tx.execute(wrong).catch(() => {})
        await tx.execute(add)
      })
      await ours()
      // behind an error the server is asked whether the transaction is still there
      const [failed, ...rest] = steps
      const all = ['START TRANSACTION: done', failed, 'DO 0: done', ...rest, 'COMMIT: done']
      expect(told(await alone(ours))).toEqual(all)
    })

    test('the values of a statement, its rows, and what is read row by row are in the timeline', async () => {
      const read = within(async (tx) => {
        await tx.query('SELECT n FROM odd WHERE id = ?', [1])
        await tx.execute('SELECT n FROM odd WHERE id = ?', [1])
        const core = tx.connection as unknown as CoreConnection
        for await (const row of core.query('SELECT id FROM odd').stream()) expect(row).toEqual({ id: 1 })
      })
      await read()
      const trace = await alone(read)
      expect(trace.map(({ does, detail }) => [does, detail])).toEqual([
        ['START TRANSACTION', undefined],
        ['SELECT n FROM odd WHERE id = 1', '{ n: 0 }'],
        ['PREPARE SELECT n FROM odd WHERE id = ?', undefined],
        [expect.stringMatching(/^SELECT n FROM odd WHERE id = \?.*1/), '{ n: 0 }'],
        ['SELECT id FROM odd', undefined],
        ['COMMIT', undefined],
      ])
    })

    test('a prepared statement is closed behind its use, though nobody waits for that', async () => {
      let runs = 0
      const close = async (): Promise<void> => {
        const connection = await pool.getConnection()
        // the driver keeps one that was closed, and would give it again
        const statement = await connection.prepare(`${add} AND 7 = ? -- ${(runs += 1)}`)
        const answer = statement.execute([7])
        await Promise.all([statement.close(), answer, connection.ping()])
        connection.release()
      }
      const report = await explore({ ...base(), actors: { a: close, b: close } })
      expect([report.verdict, report.notes]).toEqual(['none', []])
    })

    test('whoever is left over is told so, and the class of the driver is as it was', async () => {
      const before = await pool.getConnection()
      const driver = Object.getPrototypeOf(Object.getPrototypeOf(before.connection)) as object
      before.release()
      const own = (): readonly PropertyDescriptor[] => Object.values(Object.getOwnPropertyDescriptors(driver))
      const was = own()
      const errors: unknown[] = []
      const stuck = within(async (tx) => {
        await tx.query(add)
        await Promise.all([tx.query(add), tx.execute(add), new Promise(() => {})]).catch((error: unknown) => {
          errors.push(error)
          throw error
        })
      })
      const report = await explore({ ...base(), actors: { a: stuck, b: stuck }, hangMs: 300, patienceMs: 50 })
      expect(report.verdict).toBe('hang')
      await until(async () => (await context.engine.leftovers()).length === 0, 'a server that holds nothing')
      await until(async () => errors.length > 0, 'an error for whoever was left over')
      expect(own()).toEqual(was)
      await within((tx) => tx.query(add))()
    })
  },
  { only: ['mysql', 'mariadb'] },
)
