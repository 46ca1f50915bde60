import { pathToFileURL } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'

import { captureConsole } from './console.ts'
import { describeError, type Failure, type Probe } from './probe.ts'
import { probeName } from './rewrite.ts'
import type { Sent, Tap } from './taps/tap.ts'

/** Only against hanging: a machine may be ten times slower. */
const limitMs = 150_000

/** A program in its folder. */
export interface Run {
  readonly folder: string
  readonly file: 'db.ts' | 'program.ts'
  /** Where the line in front of the block's first one is, in the file. */
  readonly offset: number
  readonly url: string | undefined
  readonly tap: Tap | undefined
  readonly probe: Probe
  readonly usesDb: boolean
  /** Whether the library is to know its server beforehand: what it asks about that is no statement of the program. */
  readonly knowsServer: boolean
}

export interface Executed {
  readonly printed: string
  readonly sent: readonly Sent[]
  readonly failures: readonly Failure[]
}

/** Runs it in this process, with a console, an address and a folder of its own; ends whatever it leaves open. */
export async function execute(run: Run): Promise<Executed> {
  const sent: Sent[] = []
  const failures: Failure[] = []
  const output = captureConsole()
  const leave = enter(run, (message) => failures.push({ line: 0, what: `it warns: ${message}` }))
  try {
    await within(limitMs, work(run, sent), 'the program does not end')
  } catch (error) {
    failures.push({ line: lineIn(error, run), what: `it throws ${describeError(error)}` })
  } finally {
    output.end()
    const ending = run.tap?.endAll() ?? Promise.resolve()
    await within(15_000, ending, 'it does not let go of its connections').catch((error: unknown) =>
      failures.push({ line: 0, what: describeError(error) }),
    )
    leave()
  }
  return { printed: output.text(), sent, failures }
}

async function work({ folder, file, tap, usesDb, knowsServer }: Run, sent: Sent[]): Promise<void> {
  if (usesDb) {
    const { locks } = await load(`${folder}/db.ts`)
    if (knowsServer) await locks?.transaction(async () => {})
  }
  tap?.listen((one) => void sent.push(one))
  const exported = await load(`${folder}/${file}`)
  if (file === 'db.ts' && (exported.db === undefined || exported.locks === undefined))
    throw new Error('it must export `db` and `locks`')
}

interface Exported {
  readonly db?: unknown
  readonly locks?: { readonly transaction: (work: () => Promise<void>) => Promise<void> }
}

function load(path: string): Promise<Exported> {
  return import(pathToFileURL(path).href) as Promise<Exported>
}

/** What a program of its own process would have. Gives back how to leave it again. */
function enter({ folder, url, probe, tap }: Run, warn: (message: string) => void): () => void {
  const before = { cwd: process.cwd(), url: process.env.DATABASE_URL }
  const onWarning = ({ name, message }: Error): void => {
    // a handle that is dropped is noticed when memory is cleared, by then of a program that ran before
    if (name === 'HoldfastWarning' && !message.includes('its handle was dropped')) warn(message)
  }
  process.on('warning', onWarning)
  process.chdir(folder)
  setUrl(url)
  tap?.begin()
  Object.assign(globalThis, { [Symbol.for(probeName)]: probe })
  return () => {
    process.off('warning', onWarning)
    process.chdir(before.cwd)
    setUrl(before.url)
  }
}

function setUrl(url: string | undefined): void {
  if (url === undefined) delete process.env.DATABASE_URL
  else process.env.DATABASE_URL = url
}

async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  const stop = new AbortController()
  const late = pause(ms, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${what} within ${ms / 1000} seconds`)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    late.catch(() => {}) // aborted
    stop.abort()
  }
}

/** The line of the block on which an error was made, when its stack shows that. */
function lineIn(error: unknown, { folder, file, offset }: Run): number {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const [, line] = new RegExp(`${folder}/${file}:(\\d+)`).exec(stack) ?? []
  return line === undefined ? 0 : Number(line) - offset
}
