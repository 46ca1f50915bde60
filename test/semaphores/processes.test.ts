import { afterEach, beforeEach, describe } from 'vitest'

import { describeFaults, type Stage } from '../faults/stage.ts'
import type { Shop } from '../stories/shop.ts'
import { contention } from './contention.ts'
import { useTable } from './use.ts'

// Windows cannot stop a process where it stands
describe.skipIf(process.platform === 'win32')('thirty-two contenders in four processes', () => {
  describeFaults(specs, { withProcesses: true })
})

function specs(stage: Stage): void {
  let shop: Shop

  beforeEach(async () => {
    shop = await stage.shop()
    await shop.create(useTable, ['id', 'fence_code'])
    for (let id = 0; id < 40; id += 1) await shop.add(undefined, useTable, { id, fence_code: '0' })
  })
  // what is said last is undone first: the processes end before their table goes
  afterEach(() => shop.drop(useTable))
  contention(() => ({ engine: stage.name, url: stage.engine.server.url, locks: shop.locks }))
}
