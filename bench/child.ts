import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A program in a process of its own, which answers each line with a line. */
export interface Child {
  readonly pid: number | undefined
  readonly ask: (line: string) => Promise<string>
  /** Ends its input, and waits for its end. */
  readonly end: () => Promise<void>
  readonly kill: () => Promise<void>
}

const loader = new URL('typescript.mjs', import.meta.url).href

/** Starts a program of this folder. `under`: what runs Node in the place of the system, and Node's own options. */
export function startChild(program: string, args: readonly string[], under: readonly string[] = []): Child {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const [command = process.execPath, ...words] = [...under, ...(under.length === 0 ? [process.execPath] : [])]
  const child = spawn(command, [...words, '--expose-gc', '--import', loader, path, ...args], {
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
