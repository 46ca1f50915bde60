import { expect, test } from 'vitest'

import { LockError, LockTimeoutError } from '../../src/core/errors.ts'
import { rawHashtextKey } from '../../src/core/raw-key.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, type Client, type Scene } from './client.ts'

/** The limits of a session's waits, as the next user of the connection finds them. */
const limits: Readonly<Record<string, string>> = {
  postgres: "select setting from pg_settings where name = 'lock_timeout'",
  mysql: "show session variables where variable_name in ('innodb_lock_wait_timeout', 'lock_wait_timeout')",
  mariadb: "show session variables where variable_name in ('innodb_lock_wait_timeout', 'lock_wait_timeout')",
}

/** Changes them from inside of a transaction. */
const changes: Readonly<Record<string, string>> = {
  postgres: 'set local lock_timeout = 4000',
  mysql: 'set session innodb_lock_wait_timeout = 4',
  mariadb: 'set session innodb_lock_wait_timeout = 4',
}

describeClients((scene) => {
  const limitsIn = (client: Client, tx?: unknown): Promise<unknown> =>
    client.query(tx, limits[scene.name] ?? '')
  /** On both connections of the pool. */
  const limitsOf = (client: Client): Promise<unknown> => Promise.all([limitsIn(client), limitsIn(client)])

  test('a limit of the transaction and one of its named lock leave no setting behind', async () => {
    const client = scene.connect(2)
    const before = await limitsOf(client)
    for (const isolation of ['read committed', 'repeatable read', 'serializable'] as const) {
      const options = { isolation, lockTimeoutMs: 3000, wait: { timeoutMs: 1500 } }
      await client.locks.withLock('limited', (tx) => client.query(tx, 'select 1'), options)
      expect(await limitsOf(client)).toEqual(before)
    }
  })

  const keys = scene.name === 'postgres' ? ['beside', rawHashtextKey('beside')] : ['beside']
  test.each(keys)(
    'what the work sends beside a named lock with a limit is not under that: %j',
    async (key) => {
      const [client, rival] = [scene.connect(1), scene.connect(2)]
      const held = await rival.locks.acquire(key)
      const work = async (tx: unknown): Promise<void> => {
        const before = await limitsIn(client, tx)
        const lock = client.locks.lock(tx, key, { wait: { timeoutMs: 60_000 } })
        await new Promise(setImmediate) // it is asked for by then, and waits
        const [during, after] = [limitsIn(client, tx), limitsAfterChange(client, tx)]
        await held.release()
        await lock
        expect(await during).toEqual(before)
        const changed = await after
        expect(changed).not.toEqual(before)
        expect(await limitsIn(client, tx)).toEqual(changed)
      }
      await client.locks.transaction(work, { isolation: 'read committed' }).finally(() => held.release())
    },
  )

  const limitsAfterChange = async (client: Client, tx: unknown): Promise<unknown> => {
    const change = client.query(tx, changes[scene.name] ?? '')
    const limit = limitsIn(client, tx)
    await change
    return limit
  }

  test('rows that are locked at once, each with a limit, leave no setting behind', async () => {
    const client = scene.connect(2)
    const before = await limitsOf(client)
    await client.locks.transaction(async (tx) => {
      const during = await limitsIn(client, tx)
      await Promise.all([1, 2].map((id) => client.lockItem(tx, id, { wait: { timeoutMs: id * 1000 } })))
      expect(await limitsIn(client, tx)).toEqual(during)
    })
    expect(await limitsOf(client)).toEqual(before)
  })

  test('so do rows that nobody waits for, when the work throws', async () => {
    const client = scene.connect(1)
    const before = await limitsIn(client)
    const mistake = new Error('a mistake of the application')
    const failing = client.locks.transaction(async (tx) => {
      for (const options of [{}, { wait: { timeoutMs: 1000 } }])
        void client.lockItem(tx, 1, options).catch(() => {})
      throw mistake
    })
    expect(await caught(failing)).toBe(mistake)
    expect(await limitsIn(client)).toEqual(before)
  })

  test('so do rows of which one is refused', async () => {
    const client = scene.connect(2)
    const before = await limitsOf(client)
    await whileHeld(scene, async () => {
      const both = client.locks.transaction((tx) =>
        Promise.all([1, 2].map((id) => client.lockItem(tx, id, { wait: { timeoutMs: 1000 } }))),
      )
      expect(await caught(both)).toBeInstanceOf(LockTimeoutError)
    })
    expect(await limitsOf(client)).toEqual(before)
  })

  test('a row that was locked beside one that was refused at a savepoint stays locked', async () => {
    const [client, rival] = [scene.connect(2), scene.connect(2)]
    await whileHeld(scene, () =>
      client.locks.transaction(async (tx) => {
        const held = caught(client.lockItem(tx, 1, { wait: 'nowait', savepoint: true }))
        const free = client.lockItem(tx, 2, { wait: 'nowait', savepoint: true })
        const named = caught(client.locks.lock(tx, 'beside it', { wait: 'nowait' }))
        expect(await held).toBeInstanceOf(LockError)
        await free
        // not every engine can take a named lock in a transaction at its usual level
        const isNamed = (await named) === 'no error'
        const taken = rival.locks.transaction((other) => rival.lockItem(other, 2, { wait: 'nowait' }))
        expect(await caught(taken)).toBeInstanceOf(LockError)
        if (isNamed)
          expect(await rival.locks.tryLock('beside it', async () => 'taken')).toEqual({ acquired: false })
      }),
    )
  })

  test('a change that is made beside a lock that is refused at a savepoint is stored or fails', async () => {
    const client = scene.connect(2)
    await whileHeld(scene, async () => {
      const changed = client.locks.transaction(async (tx) => {
        const held = client.lockItem(tx, 1, { wait: { timeoutMs: 1000 }, savepoint: true })
        const change = caught(client.query(tx, 'update item set n = n + 1 where id = 2'))
        expect(await caught(held)).toBeInstanceOf(LockError)
        return change
      })
      const outcome = await caught(changed.then((change) => expect(change).toBe('no error')))
      const [row] = await client.query(undefined, 'select n from item where id = 2')
      expect(Number(row?.n)).toBe(outcome === 'no error' ? 1 : 0)
    })
  })
})

describeClients((scene) => {
  test('a change behind a lock at a savepoint is not undone in silence with a statement that fails', async () => {
    const client = scene.connect(2)
    const changed = client.locks.transaction(async (tx) => {
      const lock = caught(client.lockItem(tx, 1, { savepoint: true }))
      const change = client.query(tx, 'update item set n = n + 1 where id = 2')
      const failing = caught(client.query(tx, 'select no_such_column from item'))
      await Promise.all([lock, change, failing])
    })
    const outcome = await caught(changed)
    const [row] = await client.query(undefined, 'select n from item where id = 2')
    expect(Number(row?.n)).toBe(outcome === 'no error' ? 1 : 0)
  })
})

/** Runs `work` while a connection of another application holds item 1. */
async function whileHeld<T>({ engine }: Scene, work: () => Promise<T>): Promise<T> {
  const holder = await engine.open()
  await holder.begin()
  await holder.run({ sql: 'SELECT * FROM item WHERE id = 1 FOR UPDATE', params: [] })
  try {
    return await work()
  } finally {
    await holder.rollback()
    await holder.close()
  }
}
