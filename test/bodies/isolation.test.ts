import { expect, test } from 'vitest'

import { UnsupportedLockError } from '../../src/core/errors.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, type Client } from './client.ts'

const setLevel = (name: string, level: string): string =>
  name === 'postgres'
    ? `set session characteristics as transaction isolation level ${level}`
    : `set session transaction isolation level ${level}`

describeClients((scene) => {
  const lockIn = (client: Client): Promise<unknown> =>
    caught(client.locks.transaction((tx) => client.locks.lock(tx, 'joined'), { attempts: 1 }))

  test('the level of the very transaction decides whether it may still take a lock', async () => {
    const client = scene.connect(1)
    await client.query(undefined, setLevel(scene.name, 'read committed'))
    expect(await lockIn(client)).toBe('no error')
    await client.query(undefined, setLevel(scene.name, 'repeatable read'))
    expect(await lockIn(client)).toBeInstanceOf(UnsupportedLockError)
    await client.query(undefined, setLevel(scene.name, 'read committed'))
    expect(await lockIn(client)).toBe('no error')
  })

  test('a part may ask for the level that the whole has unasked, and for no other', async () => {
    const { locks, query } = scene.connect(1)
    await query(undefined, setLevel(scene.name, 'read committed'))
    const part = (isolation: 'read committed' | 'serializable'): Promise<string> =>
      locks.transaction(() => locks.transaction(async () => 'inner', { nested: 'join', isolation }))
    expect(await part('read committed')).toBe('inner')
    expect(await caught(part('serializable'))).toMatchObject({ name: 'LockUsageError', field: 'isolation' })
  })

  if (scene.name === 'postgres') {
    test('a quota holds on connections whose default level is another than the first one had', async () => {
      const client = scene.connect(3)
      await client.locks.withLock('quota', (tx) => client.query(tx, 'select 1'))
      const outsider = await scene.engine.open()
      const say = (sql: string): Promise<readonly object[]> => outsider.run({ sql, params: [] })
      const setDefault = (value: string): Promise<unknown> =>
        say(`do $$ begin execute format('alter role current_user in database %I set
             default_transaction_isolation = ${value}', current_database()); end $$`)
      await setDefault("''repeatable read''")
      const waiters = async (): Promise<number> =>
        (
          await say(
            "select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
          )
        ).length
      let isFirst = true
      const book = (): Promise<void> =>
        client.locks.withLock('quota', async (tx) => {
          const taken = await client.query(tx, 'select 1 from item where id = 9')
          if (isFirst) await until(async () => (await waiters()) > 0, 'another who waits')
          isFirst = false
          if (taken.length === 0) await client.query(tx, 'insert into item values (9, 0)')
        })
      // a second booking that does not see the first one fails on the key, after the wait
      await Promise.all([book(), book(), book()])
      await setDefault('default')
      await outsider.close()
      expect(await client.query(undefined, 'select id from item where id = 9')).toHaveLength(1)
    })
  }
})
