import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { programOf } from '../engines/program.ts'
import type { FromWorker } from './worker.ts'

export interface ShiftPlan {
  readonly engine: string
  readonly url: string
  readonly processes: number
  /** In each process. */
  readonly workers: number
  readonly visibilityMs: number
}

/** Processes of workers that drain the queue. */
export interface Shift {
  /** What went wrong in the processes that are alive or ended well. */
  readonly failures: readonly string[]
  /** Ends the process of this name as a power cut would, and starts another in its place. */
  readonly kill: (name: string) => Promise<void>
  readonly stop: () => Promise<void>
  /** Ends what is still there, whatever it does. */
  readonly end: () => void
}

export async function startShift(plan: ShiftPlan): Promise<Shift> {
  const failures: string[] = []
  const children = new Map<string, ChildProcess>()
  let started = 0
  const program = await programOf(new URL('./worker.ts', import.meta.url))
  const start = async (): Promise<void> => {
    started += 1
    const name = `process-${started}`
    const { engine, url, workers, visibilityMs } = plan
    const args = [engine, url, name, String(workers), String(visibilityMs)]
    const child = fork(program, args, { execArgv: [] })
    child.on('message', (message: FromWorker) => {
      if (typeof message === 'object') failures.push(message.failed)
    })
    children.set(name, child)
    await Promise.race([once(child, 'message'), once(child, 'exit').then(neverStarted)])
  }
  await Promise.all(Array.from({ length: plan.processes }, start))
  return {
    failures,
    kill: async (name) => {
      const victim = children.get(name)
      if (victim === undefined) throw new Error(`no process ${name} is at work`)
      children.delete(name)
      const gone = once(victim, 'exit')
      victim.kill('SIGKILL')
      await gone
      await start()
    },
    end: () => children.forEach((child) => void child.kill('SIGKILL')),
    stop: async () => {
      const ends = Array.from(children.values(), (child) => once(child, 'exit'))
      for (const child of children.values()) child.send('stop')
      const codes = await Promise.all(ends)
      if (codes.some(([code]) => code !== 0))
        throw new Error(`processes of workers ended with ${String(codes)}`)
    },
  }
}

function neverStarted([code]: unknown[]): never {
  throw new Error(`a process of workers did not start: it ended with ${String(code)}`)
}
