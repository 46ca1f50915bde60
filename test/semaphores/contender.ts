import { LockLostError } from '../../src/core/errors.ts'
import type { Permit } from '../../src/locks/semaphore/semaphore.ts'
import { loadDriver } from '../stories/drivers.ts'
import { semaphoreKey, useTable } from './use.ts'

/*
 * A process of contenders: `contender.ts <engine> <url> <contenders> <permits> <ttlMs>`.
 *
 * Each of them takes a permit, works under it and gives it back, again and again until its parent says `stop`. What it
 * says of a permit is said while it has it: `in` after it was granted, `out` before it is given back, which is not done
 * before the parent has heard of it.
 */

export interface Use {
  readonly owner: string
  readonly slot: number
  readonly fence: number
}

export type FromContender =
  | 'ready'
  | { readonly in: Use }
  /** `isConfirmed`: the database has said at the end that the permit is still its own, so it was all the time. */
  | { readonly out: string; readonly isConfirmed: boolean }
  /** What went wrong, with its stack. */
  | { readonly failed: string }

export type ToContender = 'stop' | { readonly heard: string }

const [engine = '', url = '', contenders = '', permits = '', ttlMs = ''] = process.argv.slice(2)
const say = (message: FromContender): void => void process.send?.(message)
const shop = await (await loadDriver(engine)).connect(url, 4)
const semaphore = shop.locks.semaphore(semaphoreKey, { permits: Number(permits), ttlMs: Number(ttlMs) })
const stop = new AbortController()
const heard = new Map<string, () => void>()

process.on('message', (message: ToContender) => {
  if (message === 'stop') stop.abort()
  else heard.get(message.heard)?.()
})
process.on('disconnect', () => process.exit())

async function contend(): Promise<void> {
  while (!stop.signal.aborted) {
    const permit = await semaphore.acquire({ signal: stop.signal })
    const { owner, slot, fence } = permit
    const isHeard = new Promise<void>((resolve) => heard.set(owner, resolve))
    say({ in: { owner, slot, fence } })
    say({ out: owner, isConfirmed: await isUsed(permit) })
    await isHeard
    heard.delete(owner)
    await permit.release()
  }
}

/** Works under the permit. Says whether it was held to the end. */
async function isUsed(permit: Permit): Promise<boolean> {
  const target = { table: useTable, key: { id: permit.slot } }
  try {
    await shop.locks.fenced(permit, async (tx) => {
      const [row] = await shop.find(tx, target)
      const last = Number(row?.fence_code)
      if (!(last < permit.fence)) throw new Error(`slot ${permit.slot}: ${permit.fence} comes after ${last}`)
      await shop.change(tx, target, { fence_code: String(permit.fence) })
    })
    await permit.extend()
    return true
  } catch (error) {
    if (error instanceof LockLostError) return false
    throw error
  }
}

say('ready')
await Promise.all(
  Array.from({ length: Number(contenders) }, () =>
    contend().catch((error: unknown) => {
      if (error !== stop.signal.reason) say({ failed: String((error as Error).stack) })
    }),
  ),
)
await shop.close()
process.disconnect()
