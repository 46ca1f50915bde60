import type { Server } from './engine.ts'
import { engineNames, loadEngine, namedIn } from './engine-list.ts'
import { OBTAINABLE, obtainableEngines } from './obtainable.ts'
import { messageOf } from './run-command.ts'
import { describeRefusals, startEngine, type Found } from './sources.ts'

/** What became of one engine, as plain data for the test workers. */
export interface EngineReport {
  readonly name: string
  readonly server?: Server
  /** Why there is none. */
  readonly reason?: string
}

/** One engine's start, as the process that started it sees it. */
export interface EngineStart extends Found {
  readonly name: string
  readonly tookMs: number
}

/**
 * Starts all engines at once, each by the first way that is open.
 *
 * `HOLDFAST_ENGINES=postgres,sqlite` starts only those; the others are reported as left out.
 */
export async function startEngines(): Promise<readonly EngineStart[]> {
  const chosen = await namedIn('HOLDFAST_ENGINES')
  const names = await engineNames()
  return Promise.all(
    names.map(async (name) => (chosen?.includes(name) === false ? leftOut(name) : startNamed(name))),
  )
}

/** Starts one engine. A file of its that does not load is a reason why it is not there, and nobody else's trouble. */
export async function startNamed(name: string, load: typeof loadEngine = loadEngine): Promise<EngineStart> {
  const before = performance.now()
  const found = await load(name)
    .then((kind) => startEngine(kind))
    .catch(notLoaded)
  return { name, ...found, tookMs: performance.now() - before }
}

function notLoaded(error: unknown): Found {
  return { refusals: [{ reason: `its driver does not load: ${messageOf(error)}` }] }
}

function leftOut(name: string): EngineStart {
  return { name, tookMs: 0, refusals: [{ reason: 'HOLDFAST_ENGINES leaves it out' }] }
}

/** The engines without which the run must fail, as `HOLDFAST_REQUIRE` names them, or all that can be had. */
export async function requiredEngines(): Promise<readonly string[]> {
  if (process.env.HOLDFAST_REQUIRE === OBTAINABLE) return obtainableEngines()
  return (await namedIn('HOLDFAST_REQUIRE')) ?? []
}

/** What the workers are told. */
export function report({ name, started, refusals }: EngineStart): EngineReport {
  return started === undefined
    ? { name, reason: describeRefusals(refusals) }
    : { name, server: started.server }
}

/** Throws when an engine that `HOLDFAST_REQUIRE` named did not start; says which and why. */
export function checkRequired(required: readonly string[], starts: readonly EngineStart[]): void {
  const missing = starts.filter(({ name, started }) => required.includes(name) && started === undefined)
  if (missing.length === 0) return
  const lines = missing.map(({ name, refusals }) => `\n  ${name}: ${describeRefusals(refusals)}`)
  throw new Error(`HOLDFAST_REQUIRE asks for engines that are not there:${lines.join('')}`)
}

/** Stops all that run. */
export async function stopEngines(starts: readonly EngineStart[]): Promise<void> {
  await Promise.all(starts.map(async ({ started }) => started?.stop()))
}
