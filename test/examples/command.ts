import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { programOf } from '../engines/program.ts'

const root = new URL('../../', import.meta.url)
const tsx = new URL('node_modules/tsx/dist/', root)

/** What a program has printed, and how it ended. */
export interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | null
}

/** A program that is running. */
export interface Running {
  readonly child: ChildProcess
  readonly printed: { stdout: string; stderr: string }
  readonly ended: Promise<Ended>
}

/** Starts a program of the repository in its root. */
export async function start(file: string, args: readonly string[] = []): Promise<Running> {
  return startNode([await programOf(new URL(file, root)), ...args], fileURLToPath(root))
}

export async function run(file: string, args: readonly string[] = []): Promise<Ended> {
  return (await start(file, args)).ended
}

/** Runs `tsx <file>` itself, in another folder. */
export function runTsxIn(folder: string, file: string): Promise<Ended> {
  return startNode([fileURLToPath(new URL('cli.mjs', tsx)), file], folder).ended
}

function startNode(args: readonly string[], cwd: string): Running {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    // what hangs is not to outlive its test
    timeout: 500_000,
  })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (exitCode) => resolve({ ...printed, exitCode }))
  })
  return { child, printed, ended }
}
