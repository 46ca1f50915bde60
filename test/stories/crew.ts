import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { programOf } from '../engines/program.ts'
import { loadDriver } from './drivers.ts'
import { meetingOf } from './meeting.ts'
import { runShift, type Outcomes, type Task } from './shift.ts'
import type { FromParent, FromWorker } from './worker.ts'

/** Workers in processes of their own, where the engine lets more than one in. */
export interface Crew {
  readonly processes: number
  /** Gives each worker its task and waits for all. The outcomes come in the order of the tasks. */
  readonly run: (tasks: readonly Task[], options?: { readonly withoutLock?: boolean }) => Promise<Outcomes>
  readonly close: () => Promise<void>
}

export async function hireCrew(engine: string, url: string, workers: number): Promise<Crew> {
  const { hasProcesses } = await loadDriver(engine)
  return hasProcesses ? inProcesses(engine, url, workers / 2) : inThisProcess(engine, url, workers)
}

async function inThisProcess(engine: string, url: string, workers: number): Promise<Crew> {
  const driver = await loadDriver(engine)
  const shop = await driver.connect(url, workers)
  return {
    processes: 1,
    run: (tasks, { withoutLock = false } = {}) =>
      runShift({ shop, driver, meet: meetingOf(tasks.length).meet }, { tasks, withoutLock }),
    close: () => shop.close(),
  }
}

async function inProcesses(engine: string, url: string, workersEach: number): Promise<Crew> {
  const program = await programOf(new URL('./worker.ts', import.meta.url))
  const start = (): ChildProcess => fork(program, [engine, url, String(workersEach)], { execArgv: [] })
  const children = [start(), start()]
  const go: FromParent = 'go'
  await Promise.all(children.map(ready))
  return {
    processes: children.length,
    run: async (tasks, { withoutLock = false } = {}) => {
      const meeting = meetingOf(children.length, () => {
        meeting.open()
        for (const child of children) child.send(go)
      })
      // neighbours in the list of tasks belong to different processes
      const shares = children.map((_, share) =>
        tasks.filter((__, index) => index % children.length === share),
      )
      const outcomes = await Promise.all(
        children.map((child, share) =>
          sendOff(child, { shift: { tasks: shares[share] ?? [], withoutLock } }, () => void meeting.meet()),
        ),
      ).catch((error: unknown) => {
        for (const child of children) child.kill() // the others would wait for the one that failed
        throw error
      })
      return tasks.map(
        (_, index) => outcomes[index % children.length]?.[Math.floor(index / children.length)] ?? [],
      )
    },
    close: async () => {
      const ends = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, 'exit'))
      for (const child of children) if (child.connected) child.disconnect()
      await Promise.all(ends)
    },
  }
}

async function ready(child: ChildProcess): Promise<void> {
  const early = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of workers did not start: it ended with ${String(code)}`)
  })
  await Promise.race([once(child, 'message'), early])
  early.catch(() => {}) // it ends some time
}

/** Gives a process its shift; `onHere` hears each time that all its workers wait for the others. */
function sendOff(child: ChildProcess, shift: FromParent, onHere: () => void): Promise<Outcomes> {
  return new Promise((resolve, reject) => {
    const hear = (message: FromWorker): void => {
      if (message === 'here') onHere()
      if (typeof message === 'string') return
      leave()
      if ('done' in message) resolve(message.done)
      else reject(new Error(`a worker failed: ${message.failed}`))
    }
    const onExit = (code: number | null): void => {
      leave()
      reject(new Error(`a process of workers ended with ${code}`))
    }
    const leave = (): void => {
      child.off('message', hear)
      child.off('exit', onExit)
    }
    child.on('message', hear)
    child.on('exit', onExit)
    child.send(shift)
  })
}
