import { readFile, writeFile } from 'node:fs/promises'

import type { Engine, EngineKind } from '../engines/engine.ts'
import { loadEngine } from '../engines/engine-list.ts'
import { startAnother } from '../engines/private-server.ts'
import { progress } from '../engines/progress.ts'
import { startEngines, stopEngines, type EngineStart } from '../engines/start-engines.ts'
import { captureError } from './captured-error.ts'
import type { CapturedFile, CapturedScenario } from './captured-file.ts'
import { isPlayable, play, playAlone, prepare } from './play.ts'
import { allProvocations } from './provocations.ts'
import type { Provocations, Provoked, Scenario } from './scenario.ts'

/**
 * Provokes every error on every engine that is here and writes down what the drivers gave.
 *
 * What cannot be played on this server keeps what an earlier run has written. A new version of a driver or of a server
 * shows as a change of these files.
 */
async function main(): Promise<void> {
  const known = await allProvocations()
  const starts = await startEngines()
  try {
    for (const start of starts) {
      const provocations = known.get(start.name)
      if (provocations !== undefined) await captureEngine(start, provocations)
    }
  } finally {
    await stopEngines(starts)
  }
}

async function captureEngine({ name, started }: EngineStart, provocations: Provocations): Promise<void> {
  if (started === undefined) return progress(`${name} is not here: its errors stay as they were captured`)
  const kind = await loadEngine(name)
  const engine = await kind.connect(started.server)
  const before = await readCaptured(name)
  const errors: CapturedScenario[] = []
  try {
    await prepare(engine, provocations)
    for (const scenario of provocations.scenarios) {
      const earlier = before?.errors.find((captured) => captured.scenario === scenario.name)
      const error = (await captureScenario({ kind, engine, provocations, scenario })) ?? earlier?.error
      if (error !== undefined) errors.push({ scenario: scenario.name, ...scenario.expect, error })
    }
  } finally {
    await engine.close()
  }
  const file: CapturedFile = { engine: name, version: started.server.version, errors }
  await writeFile(fileOf(name), `${JSON.stringify(file, undefined, 2)}\n`)
  progress(`${name} ${file.version}: ${errors.length} errors captured`)
}

interface Part {
  readonly kind: EngineKind
  readonly engine: Engine
  readonly provocations: Provocations
  readonly scenario: Scenario
}

async function captureScenario(part: Part): Promise<CapturedScenario['error'] | undefined> {
  const { kind, engine, scenario } = part
  const look = ({ error }: Provoked): CapturedScenario['error'] => {
    if (typeof error !== 'object' || error === null)
      throw new Error(`${scenario.name}: no error but ${String(error)}`)
    return captureError(error)
  }
  if (!isPlayable(scenario, engine.server)) return undefined
  if (scenario.isAlone !== true) return play(engine, part, look)
  const alone = await startAnother(kind.name, engine.server.origin)
  if ('unavailable' in alone) return undefined
  try {
    return await playAlone({ kind, server: alone.server }, part, look)
  } finally {
    await alone.stop()
  }
}

function fileOf(name: string): URL {
  return new URL(`./captured/${name}.json`, import.meta.url)
}

async function readCaptured(name: string): Promise<CapturedFile | undefined> {
  const text = await readFile(fileOf(name), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as CapturedFile)
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
