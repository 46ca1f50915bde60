import { MongoClient, type ClientSession } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/mongodb.ts'
import { explore } from '../../src/entries/race.ts'
import { describeEngines } from '../engines/use.ts'
import { patient } from './six.ts'

interface Item {
  readonly _id: number
  readonly n: number
}

describeEngines(
  (context) => {
    let client: MongoClient
    beforeAll(async () => {
      client = new MongoClient(context.engine.server.url)
      await client.db().collection<Item>('item').insertOne({ _id: 1, n: 1 })
    })
    afterAll(() => client.close())

    const items = () => client.db().collection<Item>('item')
    const buy = async (session?: ClientSession): Promise<void> => {
      const options = session === undefined ? {} : { session }
      const item = await items().findOne({ _id: 1 }, options)
      if (Number(item?.n) > 0) await items().updateOne({ _id: 1 }, { $inc: { n: -1 } }, options)
    }
    const sale = (actor: () => Promise<unknown>) => ({
      db: client,
      ...patient,
      reset: () => items().updateOne({ _id: 1 }, { $set: { n: 1 } }),
      actors: { a: actor, b: actor },
      invariant: async () => {
        if (Number((await items().findOne({ _id: 1 }))?.n) < 0) throw new Error('sold twice')
      },
    })

    test('the last item is sold twice without a transaction', async () => {
      const { verdict, failure } = await explore(sale(() => buy()))
      expect([verdict, failure?.name, failure?.reason]).toEqual(['race', 'a b b a', 'sold twice'])
    })

    test('and once in a transaction that is run again after a write conflict', async () => {
      const locks = createLocks(client)
      const report = await explore({
        ...sale(() => locks.transaction(({ session }) => buy(session))),
        switches: 2,
      })
      expect([report.failure?.reason, report.verdict]).toEqual([undefined, 'none'])
      expect(report.completeSwitches).toBeGreaterThanOrEqual(1)
    })
  },
  { only: ['mongodb'] },
)
