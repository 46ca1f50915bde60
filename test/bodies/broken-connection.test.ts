import { afterEach, beforeEach, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import type { EngineSession } from '../engines/engine.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, type Client } from './client.ts'

describeClients((scene) => {
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)
  beforeEach(() => void process.on('uncaughtException', note))
  afterEach(() => void process.off('uncaughtException', note))

  const idOf = async (client: Client, tx?: unknown): Promise<string> => {
    const ask = scene.name === 'postgres' ? 'pg_backend_pid()' : 'connection_id()'
    return String((await client.query(tx, `select ${ask} as id`))[0]?.id)
  }
  const kill = (id: string): Promise<void> => scene.engine.kill({ id } as EngineSession)
  const works = async (client: Client): Promise<boolean> =>
    (await caught(client.query(undefined, 'select 1'))) === 'no error'

  test('a connection that is lent and breaks ends its transaction, and not the process', async () => {
    const client = scene.connect(1)
    const broken = client.locks.transaction(
      async (tx) => {
        await kill(await idOf(client, tx))
        await until(async () => (await caught(client.query(tx, 'select 1'))) !== 'no error', 'the end')
        throw new Error('the work goes on without its connection')
      },
      { attempts: 1 },
    )
    expect(await caught(broken)).toBeInstanceOf(Error)
    await until(() => works(client), 'another connection')
    expect(uncaught).toEqual([])
  })

  const asLost = {
    name: 'RetryableTransactionError',
    kind: 'connection-lost',
    isRetryable: true,
    message: expect.stringMatching(/before anything was stored.*: run it again$/),
  }

  test.each([
    { attempts: 1 },
    { attempts: 3 },
    { attempts: 9, budgetMs: 60_000, backoff: { baseMs: 1e9, capMs: 1e9 } },
  ])(
    'a transaction that loses each of its connections ends with the error that says to run it again: %j',
    async (options) => {
      const client = scene.connect(1)
      let runs = 0
      const broken = client.locks.transaction(async (tx) => {
        runs += 1
        await client.query(tx, 'update item set n = n + 1 where id = 1')
        await kill(await idOf(client, tx))
        for (;;) await client.query(tx, 'select 1')
      }, options)
      const said = await caught(broken)
      expect(said).toMatchObject(asLost)
      expect(classifyError(said)).toMatchObject({ kind: 'connection-lost', retryable: true })
      // of the driver's own, nobody knows whether a COMMIT was under way
      const { cause } = said as Error
      expect(classifyError(cause)).toMatchObject({
        kind: 'connection-lost',
        retryable: false,
        original: cause,
      })
      expect(runs).toBe(options.budgetMs === undefined ? options.attempts : 1)
      const [row] = await scene.connect(1).query(undefined, 'select n from item where id = 1')
      expect(Number(row?.n)).toBe(0)
    },
  )

  test('one that has nothing to do and breaks does not either', async () => {
    const client = scene.connect(1)
    await client.locks.transaction((tx) => client.query(tx, 'select 1'))
    const id = await idOf(client)
    await kill(id)
    await until(async () => (await works(client)) && (await idOf(client)) !== id, 'another connection')
    expect(uncaught).toEqual([])
  })

  test('one that breaks while nobody speaks to it does not either', async () => {
    const client = scene.connect(2)
    const held = await client.locks.acquire('kept')
    const session = (await scene.engine.leftovers()).join('\n')
    expect(session).not.toBe('')
    await client.locks
      .transaction(
        async (tx) => {
          const id = await idOf(client, tx)
          await kill(id)
          await until(
            async () => !(await scene.engine.isWaiting({ id } as EngineSession)),
            'a server without it',
          )
        },
        { attempts: 1 },
      )
      .catch(() => {})
    await held.release()
    await until(() => works(client), 'another connection')
    expect(uncaught).toEqual([])
  })
})
