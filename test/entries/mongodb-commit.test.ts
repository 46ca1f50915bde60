import type { MongoClient } from 'mongodb'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/mongodb.ts'
import { namedMongoClient, whileFailing } from '../engines/mongodb-failing.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describeEngines(specs, { only: ['mongodb'] })

function specs(context: EngineContext): void {
  let client: MongoClient
  beforeEach(async () => {
    client = await namedMongoClient(context.engine.server.url)
    await client.db().createCollection('journal')
  })
  afterEach(async () => {
    await client.db().dropCollection('journal')
    await client.close()
  })

  /** Breaks the connection at COMMIT that many times. */
  const breaking = (times: number, work: () => Promise<void>): Promise<void> =>
    whileFailing(
      context.engine.server.url,
      client,
      { failCommands: ['commitTransaction'], closeConnection: true, times },
      work,
    )

  test('only the commit is repeated when its answer is lost: the work runs once and is stored once', async () => {
    let runs = 0
    const locks = createLocks(client)
    // the driver itself tries twice
    await breaking(3, async () => {
      await locks.transaction(async ({ session, db }) => {
        runs += 1
        await db.collection('journal').insertOne({ n: 1 }, { session })
      })
    })
    expect(runs).toBe(1)
    expect(await client.db().collection('journal').countDocuments()).toBe(1)
  })

  test('a commit whose answer never comes is not known, and the work is not repeated', async () => {
    let runs = 0
    const locks = createLocks(client)
    await breaking(100, async () => {
      const lost = locks.transaction(async ({ session, db }) => {
        runs += 1
        await db.collection('journal').insertOne({ n: 1 }, { session })
      })
      await expect(lost).rejects.toMatchObject({ name: 'CommitOutcomeUnknownError', code: 'COMMIT_UNKNOWN' })
    })
    expect(runs).toBe(1)
  })

  test('who says that a lost COMMIT stored nothing is named', async () => {
    const locks = createLocks(client)
    await breaking(100, async () => {
      const lost = locks.transaction(
        ({ session, db }) => db.collection('journal').insertOne({ n: 1 }, { session }),
        { attempts: 1, verifyCommit: async () => false },
      )
      await expect(lost).rejects.toThrow('verifyCommit says that nothing was stored')
    })
  })
}
