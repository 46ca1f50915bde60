import type { Coordinator } from '../../src/coordinator.ts'
import type { Permit } from '../../src/locks/semaphore/semaphore.ts'
import { useTable } from './use.ts'

/** Where the contenders of a process get their permits from. */
export interface Room {
  readonly locks: Pick<Coordinator, 'semaphore'>
  /** Writes under a permit, where there is something to write to. */
  readonly write: (permit: Permit) => Promise<void>
  readonly isWriting: () => boolean
  readonly close: () => Promise<unknown>
}

/** Loads only what is needed: many processes are started. */
export function openRoom(engine: string, url: string): Promise<Room> {
  if (engine === 'etcd') return inEtcd(url)
  return engine === 'redis' ? inRedis(url) : inDatabase(engine, url)
}

async function inEtcd(url: string): Promise<Room> {
  const { createLeases } = await import('../../src/entries/etcd.ts')
  return without(createLeases({ endpoints: url.split(',') }), async () => {})
}

async function inRedis(url: string): Promise<Room> {
  const { createClient } = await import('redis')
  const { createLeases } = await import('../../src/entries/redis.ts')
  const client = createClient({ url })
  await client.connect()
  return without(createLeases(client), () => client.close())
}

/** A coordinator stores nothing but leases: the order of their fences is for those to check who hear of them. */
function without(locks: Coordinator, close: Room['close']): Room {
  return { locks, write: async () => {}, isWriting: () => false, close }
}

async function inDatabase(engine: string, url: string): Promise<Room> {
  const { loadDriver } = await import('../stories/drivers.ts')
  const { locks, find, change, close } = await (await loadDriver(engine)).connect(url, 4)
  let writing = 0
  return {
    locks,
    isWriting: () => writing > 0,
    close,
    write: async (permit) => {
      const target = { table: useTable, key: { id: permit.slot } }
      writing += 1
      const written = locks.fenced(permit, async (tx) => {
        const [row] = await find(tx, target)
        const last = Number(row?.fence_code)
        // the database is to know of no holder of the slot that came later
        if (!(last < permit.fence))
          throw new Error(`slot ${permit.slot}: ${permit.fence} comes after ${last}`)
        await change(tx, target, { fence_code: String(permit.fence) })
      })
      await written.finally(() => (writing -= 1))
    },
  }
}
