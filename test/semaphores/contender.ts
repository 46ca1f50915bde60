import { LockLostError } from '../../src/core/errors.ts'
import type { Permit } from '../../src/locks/semaphore/semaphore.ts'
import { loadDriver } from '../stories/drivers.ts'
import { semaphoreKey, useTable } from './use.ts'

/*
 * A process of contenders: `contender.ts <engine> <url> <contenders> <permits> <ttlMs>`.
 *
 * Each of them takes a permit, works under it and gives it back, again and again until its parent says `stop`. What it
 * says of a permit is said while it has it: `in` after it was granted, `out` before it is given back. With neither it goes
 * on before the parent has heard of it.
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
  /** The process stops itself now, with this permit in use. */
  | { readonly frozen: string }
  /** What went wrong, with its stack. */
  | { readonly failed: string }

/** `freeze`: stop as SIGSTOP does, at a moment in which no transaction is open: on SQLite it would stop all others. */
export type ToContender = 'stop' | 'freeze' | { readonly heard: string }

const [engine = '', url = '', contenders = '', permits = '', ttlMs = ''] = process.argv.slice(2)
const say = (message: FromContender): void => void process.send?.(message)
const shop = await (await loadDriver(engine)).connect(url, 4)
const semaphore = shop.locks.semaphore(semaphoreKey, { permits: Number(permits), ttlMs: Number(ttlMs) })
const stop = new AbortController()
const heard = new Map<string, () => void>()
let writing = 0
let isToFreeze = false

process.on('message', (message: ToContender) => {
  if (message === 'stop') stop.abort()
  else if (message === 'freeze') isToFreeze = true
  else heard.get(message.heard)?.()
})
process.on('disconnect', () => process.exit())

async function contend(): Promise<void> {
  while (!stop.signal.aborted) {
    const permit = await semaphore.acquire({ signal: stop.signal })
    const { owner, slot, fence } = permit
    // written before it is told of: one that is stopped in a transaction keeps its slot for as long as that is open
    const isWritten = await isStillHeld(() => write(permit))
    await tell(owner, { in: { owner, slot, fence } })
    if (isToFreeze) await freeze(owner)
    const isConfirmed = isWritten && (await isStillHeld(() => permit.extend()))
    await tell(owner, { out: owner, isConfirmed })
    await permit.release()
  }
}

async function tell(owner: string, message: FromContender): Promise<void> {
  const isHeard = new Promise<void>((resolve) => heard.set(owner, resolve))
  say(message)
  await isHeard
  heard.delete(owner)
}

async function freeze(owner: string): Promise<void> {
  isToFreeze = false
  await new Promise((resolve) => process.send?.({ frozen: owner } satisfies FromContender, resolve))
  while (writing > 0) await new Promise((resolve) => setImmediate(resolve))
  process.kill(process.pid, 'SIGSTOP')
}

/** Whether the permit was not lost meanwhile. */
async function isStillHeld(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof LockLostError) return false
    throw error
  }
}

/** The database is to know of no holder of the slot that came later. */
async function write(permit: Permit): Promise<void> {
  const target = { table: useTable, key: { id: permit.slot } }
  writing += 1
  const written = shop.locks.fenced(permit, async (tx) => {
    const [row] = await shop.find(tx, target)
    const last = Number(row?.fence_code)
    if (!(last < permit.fence)) throw new Error(`slot ${permit.slot}: ${permit.fence} comes after ${last}`)
    await shop.change(tx, target, { fence_code: String(permit.fence) })
  })
  await written.finally(() => (writing -= 1))
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
