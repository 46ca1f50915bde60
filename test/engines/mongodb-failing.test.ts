import type { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { namedMongoClient, whileFailing } from './mongodb-failing.ts'
import { describeEngines, type EngineContext } from './use.ts'

describeEngines(specs, { only: ['mongodb'] })

function specs(context: EngineContext): void {
  let [one, other]: MongoClient[] = []
  const clients = (): [MongoClient, MongoClient] => [
    one ?? expect.unreachable(),
    other ?? expect.unreachable(),
  ]
  beforeAll(async () => {
    const connect = (): Promise<MongoClient> =>
      namedMongoClient(context.engine.server.url, { retryWrites: false })
    ;[one, other] = [await connect(), await connect()]
    await one.db().createCollection('failing')
  })
  afterAll(async () => {
    await one?.close()
    await other?.close()
  })

  test('the commands of one client fail, however many others of another one come first', async () => {
    const [failing, untouched] = clients()
    const insert = (client: MongoClient): Promise<unknown> => client.db().collection('failing').insertOne({})
    await whileFailing(
      context.engine.server.url,
      failing,
      { failCommands: ['insert'], closeConnection: true, times: 1 },
      async () => {
        await insert(untouched)
        await expect(insert(failing)).rejects.toThrow('closed')
        await insert(failing)
      },
    )
  })

  test('its transactions are seen among what is left', async () => {
    const [client] = clients()
    const session = client.startSession()
    session.startTransaction()
    await client.db().collection('failing').insertOne({}, { session })
    expect(await context.engine.leftovers()).toHaveLength(1)
    await session.abortTransaction()
    expect(await context.engine.leftovers()).toEqual([])
    await session.endSession()
  })
}
