import { afterEach, beforeEach, expect, test } from 'vitest'

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
