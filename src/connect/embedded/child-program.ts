import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { deadlineIn } from '../../core/deadline.ts'
import { onProcessEnd } from './process-end.ts'
import { atMost } from '../within.ts'

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Where it runs, and where its log is. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Is told that it runs, and, without a number, that it does no longer. */
  readonly watch: (pid?: number) => void
}

/** A program that goes on until it is stopped, or until this process ends. */
export interface RunningProgram {
  /** Waits until `probe` does not reject. Rejects with the end of the program's log when that does not come. */
  readonly becomes: (probe: () => Promise<void>) => Promise<void>
  /** Asks it to end, and makes it end when it does not. */
  readonly stop: (signal: NodeJS.Signals) => Promise<void>
}

// a busy machine takes ten times as long as an idle one
const startMs = 60_000
const stopMs = 10_000

/** Runs a program to its end, which `signal` asks of it. Rejects with the last line it wrote when it fails. */
export function run({ command, args, folder, env, watch }: Program, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env, timeout: startMs }
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      watch()
      signal?.removeEventListener('abort', stopIt)
      if (error === null) return resolve()
      const said = error.killed === true ? undefined : lastLine(`${stdout}\n${stderr}`)
      const words = said ?? (error.killed === true ? `it takes longer than ${startMs} ms` : error.message)
      reject(new Error(words, { cause: error }))
    })
    watch(child.pid)
    const stopIt = (): void => void child.kill()
    signal?.addEventListener('abort', stopIt, { once: true })
  })
}

/** Starts a program that has no end of its own. A Ctrl-C is for this process, which stops it in order. */
export async function startProgram(program: Program): Promise<RunningProgram> {
  const { command, args, folder, env, watch } = program
  const log = join(folder, 'server.log')
  const output = await open(log, 'a')
  const child = spawn(command, args, {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  })
  watch(child.pid)
  child.once('exit', () => watch())
  const forget = onProcessEnd(() => child.kill('SIGQUIT'))
  try {
    await once(child, 'spawn')
  } catch (error) {
    forget()
    throw error
  } finally {
    await output.close()
  }
  child.unref()
  return {
    becomes: (probe) => becomes(child, probe, log),
    stop: (signal) => stop(child, signal).finally(forget),
  }
}

async function becomes(child: ChildProcess, probe: () => Promise<void>, log: string): Promise<void> {
  const deadline = deadlineIn(startMs)
  while (!hasEnded(child) && !deadline.isPast()) {
    try {
      return await probe()
    } catch {
      await pause(50)
    }
  }
  const words = lastLine(await readFile(log, 'utf8')) ?? 'it does not say why'
  throw new Error(`it ${hasEnded(child) ? 'ended at its start' : 'does not start'}: ${words}`)
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill(signal)
  if (!(await atMost(stopMs, ended))) child.kill('SIGKILL')
  if (!hasEnded(child)) await atMost(stopMs, once(child, 'exit'))
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function lastLine(text: string): string | undefined {
  return text
    .trimEnd()
    .split('\n')
    .findLast((line) => line.trim() !== '')
    ?.trim()
}
