import { spawn } from 'node:child_process'

import { progress } from './progress.ts'

export interface CommandOptions {
  readonly cwd?: string
  /** The whole environment; this process's own when left out. */
  readonly env?: NodeJS.ProcessEnv
  /** Text for the command's standard input. */
  readonly input?: string
  /** @default 120_000 */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** A command that did not end with 0. The message holds the end of what it said. */
class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly timedOut: boolean
  constructor(message: string, timedOut: boolean) {
    super(message)
    this.timedOut = timedOut
  }
}

/** What the command wrote on stdout. Rejects with {@link CommandError} when it fails or takes too long. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { cwd, env, input = '', timeoutMs = 120_000, signal } = options
  const deadline = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      killSignal: 'SIGKILL',
    })
    const out: Buffer[] = []
    const all: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => void (out.push(part), all.push(part)))
    child.stderr.on('data', (part: Buffer) => void all.push(part))
    child.stdin.on('error', () => {}) // a command may end before it has read everything; its exit code decides
    child.stdin.end(input)
    const fail = (why: string): void =>
      reject(new CommandError(`${command} ${why}${tail(Buffer.concat(all).toString())}`, deadline.aborted))
    child.once('error', (error) => fail(deadline.aborted ? `took over ${timeoutMs} ms` : error.message))
    child.once('close', (code, killedBy) =>
      code === 0 ? resolve(Buffer.concat(out).toString()) : fail(`ended with ${code ?? killedBy}`),
    )
  })
}

/** As {@link runCommand}, for what comes over a network: tried three times, and heard of while it goes on. */
export async function download(
  what: string,
  ...[command, args, options]: Parameters<typeof runCommand>
): Promise<string> {
  const started = performance.now()
  const seconds = (): string => `${Math.round((performance.now() - started) / 1000)} s`
  progress(`downloading ${what}`)
  const heartbeat = setInterval(() => progress(`still downloading ${what} (${seconds()})`), 15_000)
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await runCommand(command, args, options)
      } catch (error) {
        if (attempt === 3 || options?.signal?.aborted === true) {
          throw new Error(`${what}: not downloaded after ${attempt} tries: ${messageOf(error)}`, {
            cause: error,
          })
        }
        progress(`downloading ${what}: try ${attempt} failed, trying again`)
      }
    }
  } finally {
    clearInterval(heartbeat)
  }
}

/** An error's message, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}

/** The last lines of a log, for an error message; empty when there are none. */
export function tail(log: string, lines = 12): string {
  const last = log.trimEnd().split('\n').slice(-lines)
  return last.join('') === '' ? '' : `\n  | ${last.join('\n  | ')}`
}
