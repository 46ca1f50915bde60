import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach } from 'vitest'

import { programOf } from '../engines/program.ts'
import { until } from '../engines/until.ts'

export interface Holder {
  readonly child: ChildProcess
  /** What it has written by now: first its fence. */
  readonly lines: () => readonly string[]
}

export interface Holding {
  readonly url: string
  readonly key: string
  readonly ttlMs: number
}

/** Starts processes of a program that holds a lease, and ends them after each test. */
export function useHolders(source: URL): (holding: Holding) => Promise<Holder> {
  const children: ChildProcess[] = []
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  return async ({ url, key, ttlMs }) => {
    const program = await programOf(source)
    const child = spawn(process.execPath, [program, url, key, String(ttlMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    let text = ''
    child.stdout.on('data', (data) => (text += String(data)))
    const lines = (): readonly string[] => text.split('\n').slice(0, -1)
    await until(() => lines().length > 0, 'a lease in another process')
    return { child, lines }
  }
}
