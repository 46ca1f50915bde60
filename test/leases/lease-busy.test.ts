import { expect, test } from 'vitest'

import { deferred } from '../../src/conformance/deferred.ts'
import { LockNotAvailableError } from '../../src/core/errors.ts'
import { sql } from '../../src/dialects/sql.ts'
import { caught } from '../entries/stage.ts'
import { describeFaults, type Stage } from '../faults/stage.ts'
import type { Shop } from '../stories/shop.ts'

// elsewhere a transaction keeps nobody from a lease but its own
describeFaults(specs, { only: ['sqlite'] })

type Asks = (locks: Shop['locks'], key: readonly (string | number)[]) => Promise<unknown>

const wait = 'nowait'
const unknown = 'the database is busy with another transaction, so that it is not known who has it'
const calls: readonly (readonly [string, Asks, string])[] = [
  ['lease', (locks, key) => locks.lease(key, { wait }), unknown],
  ['acquire', (locks, key) => locks.acquire(key, { wait }), unknown],
  ['tryAcquire', (locks, key) => locks.semaphore(key, { permits: 2 }).tryAcquire(), 'the database is busy'],
]

function specs(stage: Stage): void {
  const makeTable = async ({ locks }: Shop): Promise<void> => (await locks.lease(stage.key())).release()

  test.each(calls)(
    '%s without waiting is refused soon while a transaction of the process writes, and not as if another held it',
    async (_, ask, because) => {
      const [writer, other] = [await stage.shop(), await stage.shop()]
      await makeTable(writer)
      const entered = deferred<void>()
      const leave = deferred<void>()
      const writing = writer.locks.transaction(() => (entered.resolve(), leave.promise))
      await entered.promise
      const ended: string[] = []
      const patient = caught(other.locks.lease(stage.key(), { wait: { timeoutMs: 4000 } }))
      const waits = patient.then(() => ended.push('who waits four seconds'))
      const error = await caught(ask(other.locks, stage.key()))
      ended.push('who does not wait')
      await waits
      leave.resolve()
      await writing
      expect(ended).toEqual(['who does not wait', 'who waits four seconds'])
      expect(error).toBeInstanceOf(LockNotAvailableError)
      expect(error).toMatchObject({ message: expect.stringMatching(`not acquired: ${because}$`) })
    },
  )

  test.each(calls)('nor does %s say so while another process writes', async (_, ask, because) => {
    const shop = await stage.shop()
    await makeTable(shop)
    const session = await stage.engine.open()
    await session.run(sql('BEGIN IMMEDIATE'))
    const error = await caught(ask(shop.locks, stage.key()))
    await session.run(sql('ROLLBACK'))
    await session.close()
    expect(error).toBeInstanceOf(LockNotAvailableError)
    expect(error).toMatchObject({ message: expect.stringMatching(`not acquired: ${because}$`) })
  })
}
