import { LockLostError } from '../../src/core/errors.ts'
import { openRoom } from './room.ts'
import { semaphoreKey } from './use.ts'

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
  /** `isConfirmed`: the server has said at the end that the permit is still its own, so it was all the time. */
  | { readonly out: string; readonly isConfirmed: boolean }
  /** The process stops itself now, with this permit in use. */
  | { readonly frozen: string }
  /** What went wrong, with its stack. */
  | { readonly failed: string }

/** `freeze`: stop as SIGSTOP does, at a moment in which no transaction is open: on SQLite it would stop all others. */
export type ToContender = 'stop' | 'freeze' | { readonly heard: string }

const [engine = '', url = '', contenders = '', permits = '', ttlMs = ''] = process.argv.slice(2)
const say = (message: FromContender): void => void process.send?.(message)
const room = await openRoom(engine, url)
const semaphore = room.locks.semaphore(semaphoreKey, { permits: Number(permits), ttlMs: Number(ttlMs) })
const stop = new AbortController()
const heard = new Map<string, () => void>()
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
    const isWritten = await isStillHeld(() => room.write(permit))
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
  while (room.isWriting()) await new Promise((resolve) => setImmediate(resolve))
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

say('ready')
await Promise.all(
  Array.from({ length: Number(contenders) }, () =>
    contend().catch((error: unknown) => {
      if (error !== stop.signal.reason) say({ failed: String((error as Error).stack) })
    }),
  ),
)
await room.close()
process.disconnect()
