import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Gives a held name back. */
export type GiveBack = () => Promise<void>

/**
 * Holds a name that at most one process of this machine can hold; `undefined` when another one has it.
 *
 * It is a Linux abstract socket: the kernel frees it when the process ends, however it ends, so there is no lock
 * file that could outlive its owner.
 */
export async function tryHoldName(name: string): Promise<GiveBack | undefined> {
  if (process.platform !== 'linux') return async () => {}
  const path = `\0holdfast-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  const socket = createServer()
  const held = await new Promise<boolean>((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    socket.listen({ path }, () => resolve(true))
  })
  if (!held) return undefined
  socket.unref()
  return () => new Promise((resolve) => void socket.close(() => resolve()))
}

/** Runs `work` while holding `name`, after waiting for whoever holds it. `onWait` is told once, when it must wait. */
export async function withHeldName<T>(name: string, work: () => Promise<T>, onWait: () => void): Promise<T> {
  let giveBack = await tryHoldName(name)
  if (giveBack === undefined) onWait()
  while (giveBack === undefined) {
    await pause(100)
    giveBack = await tryHoldName(name)
  }
  try {
    return await work()
  } finally {
    await giveBack()
  }
}
