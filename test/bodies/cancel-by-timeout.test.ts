import { expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { moveForward } from '../../src/core/clock.ts'
import { LockTimeoutError } from '../../src/core/errors.ts'
import type { Row } from '../../src/core/statement.ts'
import { until } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeClients, type Scene } from './client.ts'

const timeoutMs = 60_000

// Which of the two it is when a lock timeout meets a grant, nobody can arrange: PostgreSQL then calls its own cancel the
// user's. Here a user's cancel comes in its place, and the client's clock says that the time is over, or that it is not.
describeClients(
  (scene) => {
    test.each(['row', 'name'] as const)(
      'a wait for a %s that is cancelled when its time is over has timed out',
      async (lock) => {
        const ended = await cancelled(scene, { lock, wait: { timeoutMs }, afterMs: timeoutMs })
        expect(ended).toBeInstanceOf(LockTimeoutError)
        expect(ended).toMatchObject({ timeoutMs, cause: { code: '57014' } })
      },
    )

    test('so has one whose time is the limit of the transaction', async () => {
      const ended = await cancelled(scene, { lock: 'row', lockTimeoutMs: timeoutMs, afterMs: timeoutMs })
      expect(ended).toBeInstanceOf(LockTimeoutError)
      expect(ended).toMatchObject({ cause: { code: '57014' } })
    })

    test('one that is cancelled before that was cancelled', async () => {
      const ended = await cancelled(scene, { lock: 'row', wait: { timeoutMs }, afterMs: timeoutMs / 2 })
      expect(ended).toMatchObject({ code: '57014' })
      expect(ended).not.toBeInstanceOf(LockTimeoutError)
    })

    test('and so was one that had no limit', async () => {
      const ended = await cancelled(scene, { lock: 'row', afterMs: timeoutMs })
      expect(ended).toMatchObject({ code: '57014' })
      expect(ended).not.toBeInstanceOf(LockTimeoutError)
    })

    test('a query that is cancelled for what else it does was cancelled, however long it took', async () => {
      const { engine } = scene
      const client = scene.connect(1)
      const outsider = await engine.open()
      const say = (sql: string): Promise<readonly unknown[]> => outsider.run({ sql, params: [] })
      // slow, and waiting for nobody
      await say('alter table item rename to kept')
      await say('create view item as select id, n from kept where (select pg_sleep(600)) is not null')
      const end = caught(
        client.locks.transaction((tx) => client.lockItem(tx, 1, { wait: { timeoutMs } }), { attempts: 1 }),
      )
      const sleeps = "from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
      await until(async () => (await say(`select 1 ${sleeps}`)).length > 0, 'a slow query')
      moveForward(timeoutMs)
      await say(`select pg_cancel_backend(pid) ${sleeps}`)
      const ended = await end
      await say('drop view item')
      await say('alter table kept rename to item')
      await outsider.close()
      expect(ended).toMatchObject({ code: '57014' })
      expect(ended).not.toBeInstanceOf(LockTimeoutError)
    })
  },
  ['postgres'],
)

// These have an error of their own for a lock timeout, whenever it comes.
describeClients(
  (scene) => {
    test('a wait for a row that an administrator ends was ended by him, however long it took', async () => {
      const { engine } = scene
      const [client, rival] = [scene.connect(1), scene.connect(1)]
      const [taken, ending] = [gate(), gate()]
      const held = rival.locks.transaction(async (tx) => {
        await rival.lockItem(tx, 1)
        taken.open()
        await ending.opened
      })
      await taken.opened
      const end = caught(
        client.locks.transaction((tx) => client.lockItem(tx, 1), { attempts: 1, lockTimeoutMs: timeoutMs }),
      )
      const outsider = await engine.open()
      const waiting = async (): Promise<readonly Row[]> =>
        outsider.run({
          sql: `select id from information_schema.processlist
                 where db = database() and id <> connection_id() and info like 'select%for update'`,
          params: [],
        })
      await until(async () => (await waiting()).length > 0, 'the statement that waits')
      moveForward(timeoutMs)
      for (const { id } of await waiting())
        await outsider.run({ sql: `kill query ${String(id)}`, params: [] })
      const ended = await end
      ending.open()
      await held
      await outsider.close()
      expect(ended).not.toBeInstanceOf(LockTimeoutError)
      expect(classifyError(ended)).toMatchObject({ kind: 'cancelled' })
    })
  },
  ['mysql', 'mariadb'],
)

interface Wanted {
  readonly lock: 'row' | 'name'
  readonly wait?: { readonly timeoutMs: number }
  readonly lockTimeoutMs?: number
  /** When it is cancelled, by the client's clock. */
  readonly afterMs: number
}

/** What a wait ends with whose statement is cancelled in the server. */
async function cancelled({ connect, engine }: Scene, wanted: Wanted): Promise<unknown> {
  const [client, rival] = [connect(2), connect(1)]
  const [taken, ending] = [gate(), gate()]
  const { lock, wait = 'block', lockTimeoutMs, afterMs } = wanted
  const limits = { attempts: 1, ...(lockTimeoutMs !== undefined && { lockTimeoutMs }) }
  const held = rival.locks.withLock('cancelled', async (tx) => {
    await rival.lockItem(tx, 1)
    taken.open()
    await ending.opened
  })
  await taken.opened
  const waiting =
    lock === 'name'
      ? client.locks.withLock('cancelled', async () => {}, { wait, ...limits })
      : client.locks.transaction((tx) => client.lockItem(tx, 1, { wait }), limits)
  const end = caught(waiting)
  const outsider = await engine.open()
  const waits = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await until(
    async () => (await outsider.run({ sql: `select 1 ${waits}`, params: [] })).length > 0,
    'a wait for the lock',
  )
  moveForward(afterMs)
  await outsider.run({ sql: `select pg_cancel_backend(pid) ${waits}`, params: [] })
  const ended = await end
  ending.open()
  await held
  await outsider.close()
  return ended
}
