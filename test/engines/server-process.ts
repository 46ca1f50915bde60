import { spawn, type ChildProcess } from 'node:child_process'
import { once as onceEvent } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import type { PrivateFolder } from './private-folder.ts'
import { isStopped, marked, signal, startTime, withDescendants } from './process-table.mjs'
import { addToCharge, markedEnvironment } from './reaper.ts'
import { messageOf, tail } from './run-command.ts'
import { until } from './until.ts'

export interface ProcessOptions {
  /** What messages call it. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Where it lives and works: its working folder, and the place of `server.log`. */
  readonly folder: PrivateFolder
  /** The whole environment; this process's own when left out. */
  readonly env?: NodeJS.ProcessEnv
  /**
   * Whether it answers; asked about every 50 ms. A rejection means "not yet", and is shown if the time runs out.
   * `log` is what the server has written so far on stdout and stderr.
   */
  readonly isReady: (log: string) => boolean | Promise<boolean>
  /** What asks the server to end quickly and cleanly. @default 'SIGTERM' */
  readonly stopSignal?: NodeJS.Signals
}

/** Only against hanging: under an emulator on a busy machine a start takes long, and one that dies is seen at once. */
const READY_WITHIN_MS = 240_000

/** A running server process. */
export interface ServerProcess {
  readonly pid: number
  /** Stops the whole process tree where it stands, as a stalled machine would. Nothing of it runs afterwards. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** Ends the process and leaves its folder. Killed when it does not go in ten seconds. */
  readonly end: () => Promise<void>
}

/** Starts a server and waits until it is ready. Its whole log's tail is in the error when it does not get there. */
export async function startProcess(options: ProcessOptions): Promise<ServerProcess> {
  if (process.platform !== 'linux') throw new Error('servers run as processes of ours on Linux only')
  const child = await launch(options)
  const { pid } = child
  if (pid === undefined) throw new Error(`${options.name} did not start`)
  const end = (): Promise<void> => endProcess(child, pid, options)
  try {
    await becomeReady(child, options)
  } catch (error) {
    await end()
    throw error
  }
  return {
    pid,
    freeze: () => freezeTree(pid),
    thaw: async () => signal(withDescendants(pid), 'SIGCONT'),
    end,
  }
}

async function freezeTree(pid: number): Promise<void> {
  const isFrozen = (): boolean => {
    const tree = withDescendants(pid) // it may have grown until the parents stood still
    signal(tree, 'SIGSTOP')
    return tree.every(isStopped)
  }
  await until(isFrozen, `every thread of process ${pid} standing still`)
}

async function launch({
  name,
  command,
  args,
  folder,
  env,
  stopSignal,
}: ProcessOptions): Promise<ChildProcess> {
  const log = await open(join(folder.path, 'server.log'), 'a')
  try {
    const child = spawn(command, args, {
      cwd: folder.path,
      env: { ...(env ?? process.env), ...markedEnvironment(folder.mark) },
      detached: true, // Ctrl-C is for the run, which then ends its servers in order
      stdio: ['ignore', log.fd, log.fd],
    })
    await onceEvent(child, 'spawn')
    child.unref()
    const { pid } = child
    const started = pid === undefined ? undefined : startTime(pid)
    if (pid !== undefined && started !== undefined) {
      addToCharge(folder.mark, { pid, startTime: started, stopSignal: stopSignal ?? 'SIGTERM' })
    }
    return child
  } catch (error) {
    throw new Error(`${name}: ${messageOf(error)}`, { cause: error })
  } finally {
    await log.close()
  }
}

async function becomeReady(child: ChildProcess, options: ProcessOptions): Promise<void> {
  const { name, folder, isReady } = options
  const deadline = Date.now() + READY_WITHIN_MS
  const log = (): Promise<string> => readFile(join(folder.path, 'server.log'), 'utf8')
  let lastAnswer = 'it said it was not ready'
  while (Date.now() < deadline) {
    if (hasEnded(child)) {
      throw new Error(
        `${name} ended with ${child.exitCode ?? child.signalCode} at its start${tail(await log())}`,
      )
    }
    try {
      if (await isReady(await log())) return
    } catch (error) {
      lastAnswer = messageOf(error)
    }
    await pause(50)
  }
  throw new Error(`${name} was not ready after ${READY_WITHIN_MS} ms (${lastAnswer})${tail(await log())}`)
}

async function endProcess(child: ChildProcess, pid: number, options: ProcessOptions): Promise<void> {
  const tree = hasEnded(child) ? [] : withDescendants(pid)
  signal(tree, 'SIGCONT')
  signal(tree.slice(0, 1), options.stopSignal ?? 'SIGTERM')
  const politeUntil = Date.now() + 10_000
  while (!hasEnded(child) && Date.now() < politeUntil) await pause(20)
  if (!hasEnded(child)) signal(withDescendants(pid), 'SIGKILL')
  while (!hasEnded(child)) await pause(20)
  // children that left the tree, and none of anybody else's: they carry our mark
  signal(marked(options.folder.mark), 'SIGKILL')
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
