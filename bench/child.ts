import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { programOf } from '../test/engines/program.ts'

/** A program in a process of its own, which answers each line with a line. */
export interface Child {
  readonly pid: number | undefined
  readonly ask: (line: string) => Promise<string>
  /** Ends its input, and waits for its end. */
  readonly end: () => Promise<void>
  readonly kill: () => Promise<void>
}

/**
 * Starts a program of this folder, bundled as the library is when it is published: to load it module by module takes
 * longer than a quick round. `under`: what runs Node in the place of the system, and Node's own options.
 */
export async function startChild(
  program: string,
  args: readonly string[],
  under: readonly string[] = [],
): Promise<Child> {
  const path = await programOf(new URL(program, import.meta.url))
  const [command = process.execPath, ...words] = [...under, ...(under.length === 0 ? [process.execPath] : [])]
  const child = spawn(command, [...words, '--expose-gc', path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const exit = once(child, 'exit')
  const gone = exit.then(() => Promise.reject(new Error(`${program} ended`)))
  gone.catch(() => {})
  return {
    pid: child.pid,
    ask: async (line) => {
      const answer = once(lines, 'line')
      child.stdin.write(`${line}\n`)
      const [text] = (await Promise.race([answer, gone])) as [string]
      return text
    },
    end: async () => {
      child.stdin.end()
      await exit
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exit
    },
  }
}
