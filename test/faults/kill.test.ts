import { expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import type { LockKey } from '../../src/core/key.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import type { Shop } from '../stories/shop.ts'
import { processes } from './elsewhere.ts'
import type { HoldBy } from './holder.ts'
import { describeFaults, rowNames, untilWaiters, type Stage } from './stage.ts'

/** Long enough for a busy machine to renew it in time. */
const ttlMs = 4000

type Grants = Readonly<Record<HoldBy, (shop: Shop, key: LockKey) => Promise<void>>>

const waitBy: Grants = {
  withLock: (shop, key) => shop.locks.withLock(key, async () => {}),
  acquire: async (shop, key) => (await shop.locks.acquire(key)).release(),
  lease: async (shop, key) => (await shop.locks.lease(key)).release(),
}

describeFaults(
  (stage) => {
    const start = processes(stage)

    for (const by of passedOnAtOnce(stage)) {
      test(`${by}: whoever waits has the lock when the holder's process is killed`, async () => {
        const [elsewhere, shop] = [await start(), await stage.shop()]
        const key = stage.key()
        await elsewhere.tell({ hold: by, key }, 'held')
        for (const wanted of ['withLock', 'acquire'] as const) await isRefused(shop, key, wanted)
        let isGranted = false
        const waiting = waitBy[by](shop, key).then(() => (isGranted = true))
        if (stage.keptBy === 'connection') await untilWaiters(stage, 1)
        else await isRefused(shop, key, 'withLock')
        expect(isGranted).toBe(false)
        await elsewhere.signal('SIGKILL')
        await waiting
      })
    }

    for (const by of endedByTime(stage)) {
      test(`${by}: whoever waits has the lease of a killed process when its time is over, and no sooner`, async () => {
        const [elsewhere, shop] = [await start(), await stage.shop()]
        const key = stage.key()
        const rowName = rowNames[by](key)
        await elsewhere.tell({ hold: by, key, ttlMs }, 'held')
        const first = await stage.leaseOf(rowName)
        await isRefused(shop, key, by)
        const waiting = granted(stage, shop, { by, key })
        // its owner is heard of: the lease outlives its first end
        await until(
          async () => Number((await stage.leaseOf(rowName))?.expiresAt) > Number(first?.expiresAt),
          'a renewal',
        )
        await isRefused(shop, key, by)
        await elsewhere.signal('SIGKILL')
        const last = await stage.leaseOf(rowName)
        expect(last?.owner).toBe(first?.owner)
        const row = await waiting
        expect(row?.fence).toBeGreaterThan(Number(first?.fence))
        // both by the server's clock: the new lease began when the old one had ended
        expect(Number(row?.expiresAt) - ttlMs).toBeGreaterThanOrEqual(Number(last?.expiresAt))
      })
    }
  },
  { withProcesses: true },
)

/** MongoDB keeps the transaction of a client that is gone until its own limit of a minute. */
function passedOnAtOnce({ name, keptBy }: Stage): readonly ('withLock' | 'acquire')[] {
  if (keptBy === 'connection') return ['withLock', 'acquire']
  return name === 'mongodb' ? [] : ['withLock']
}

function endedByTime({ keptBy }: Stage): readonly ('acquire' | 'lease')[] {
  return keptBy === 'lease' ? ['acquire', 'lease'] : ['lease']
}

async function isRefused({ locks }: Shop, key: LockKey, by: HoldBy): Promise<void> {
  const tried = {
    withLock: () => locks.withLock(key, async () => {}, { wait: 'nowait' }),
    acquire: () => locks.acquire(key, { wait: 'nowait' }),
    lease: () => locks.lease(key, { wait: 'nowait' }),
  }
  expect(await caught(tried[by]())).toBeInstanceOf(LockNotAvailableError)
}

/** Waits, and gives the row as it is when the lease was granted. */
async function granted(
  stage: Stage,
  { locks }: Shop,
  { by, key }: { readonly by: 'acquire' | 'lease'; readonly key: readonly (string | number)[] },
): Promise<Awaited<ReturnType<Stage['leaseOf']>>> {
  const held = by === 'lease' ? await locks.lease(key, { ttlMs }) : await locks.acquire(key, { ttlMs })
  const row = await stage.leaseOf(rowNames[by](key))
  await held.release()
  return row
}
