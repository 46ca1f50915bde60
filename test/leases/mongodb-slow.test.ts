import type { MongoClient } from 'mongodb'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mongodb.ts'
import { namedMongoClient, whileFailing } from '../engines/mongodb-failing.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

describeEngines(specs, { only: ['mongodb'] })

const maxTimeMsExpired = 50

function specs(context: EngineContext): void {
  let client: MongoClient
  beforeEach(async () => {
    client = await namedMongoClient(context.engine.server.url)
  })
  afterEach(() => client.close())

  /** What becomes of a request whose time runs out in a server that has too much to do. */
  const whileSlow = (work: () => Promise<void>): Promise<void> =>
    whileFailing(
      context.engine.server.url,
      client,
      { failCommands: ['findAndModify'], errorCode: maxTimeMsExpired, times: 1000 },
      work,
    )

  test.each(['lease', 'acquire'] as const)(
    'nobody is said to have it when the server was only slow: %s',
    async (call) => {
      const take = createLocks(client)[call]
      await whileSlow(async () => {
        const said = await caught(take('free', { wait: 'nowait' }))
        expect(said).toBeInstanceOf(LockNotAvailableError)
        expect(said).toMatchObject({
          message: expect.stringMatching(/ "free" not acquired: the server did not say in time who has it$/),
          cause: { code: maxTimeMsExpired },
        })
      })
      await (await take('free', { wait: 'nowait' })).release()
    },
  )

  test('a permit is not said to be taken either', async () => {
    const mail = createLocks(client).semaphore('free', { permits: 1 })
    await whileSlow(async () => {
      const said = await caught(mail.acquire({ wait: 'nowait' }))
      expect(said).toMatchObject({
        message: expect.stringContaining('not acquired: the database is busy'),
        cause: { code: maxTimeMsExpired },
      })
      expect(await caught(mail.tryAcquire())).toBeInstanceOf(LockNotAvailableError)
    })
  })
}
