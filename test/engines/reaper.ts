import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** What the reaper must know to end one server: nothing is ended that it was not told of. */
export interface Charge {
  readonly pid?: number
  /** The kernel's start time of that pid, so that a reused pid is never taken for ours. */
  readonly startTime?: string
  readonly stopSignal?: NodeJS.Signals
  /** Removed when the process is gone. */
  readonly folder?: string
}

const MARK = 'HOLDFAST_SERVER_MARK'
let pipe: Writable | undefined

/**
 * Tells the reaper what to end and remove if this process dies, and gives the mark of that charge.
 *
 * The reaper is a process of its own that reads a pipe from us. The kernel closes the pipe however we end, also by
 * `kill -9`. Announce the folder first, start the server with {@link markedEnvironment the mark} in its environment, then add
 * the pid: so there is no moment in which a server runs unknown.
 */
export function entrust(charge: Charge): string {
  const mark = `${MARK}=${randomBytes(12).toString('hex')}`
  addToCharge(mark, charge)
  return mark
}

/** Adds to what the reaper knows of a charge. */
export function addToCharge(mark: string, charge: Charge): void {
  say({ mark, ...charge })
}

/** The charge is gone in the ordinary way: the reaper forgets it. */
export function discharge(mark: string): void {
  say({ mark, ended: true })
}

/** The mark as an environment to merge into the server's. */
export function markedEnvironment(mark: string): Record<string, string> {
  return { [MARK]: mark.slice(MARK.length + 1) }
}

function say(message: object): void {
  pipe ??= startReaper()
  pipe.write(`${JSON.stringify(message)}\n`)
}

function startReaper(): Writable {
  const script = fileURLToPath(new URL('end-servers.mjs', import.meta.url))
  const { [MARK]: _ours, ...env } = process.env
  const reaper = spawn(process.execPath, [script], {
    detached: true, // its own process group: a signal to the run's group does not reach it
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...env, NODE_OPTIONS: '' },
  })
  reaper.once('error', (error) => process.emitWarning(`servers may outlive this run: ${error.message}`))
  reaper.stdin.on('error', () => {}) // without its reaper a run still ends its servers itself
  reaper.unref()
  if ('unref' in reaper.stdin && typeof reaper.stdin.unref === 'function') reaper.stdin.unref()
  return reaper.stdin
}
