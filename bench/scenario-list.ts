import { readdir } from 'node:fs/promises'

import type { Scenario } from './scenario.ts'

const folder = new URL('scenarios/', import.meta.url)

/** The names of all comparisons: the files of `bench/scenarios/`. */
export async function scenarioIds(): Promise<readonly string[]> {
  const files = await readdir(folder)
  return files.filter((name) => name.endsWith('.ts')).map((name) => name.slice(0, -'.ts'.length))
}

/** What a file of that folder exports as its scenario, under whatever name. */
export async function loadScenario(id: string): Promise<Scenario> {
  const module = (await import(new URL(`${id}.ts`, folder).href)) as Readonly<Record<string, unknown>>
  const scenario = Object.values(module).find(isScenario)
  if (scenario === undefined) throw new Error(`bench/scenarios/${id}.ts exports no scenario`)
  if (scenario.id !== id) throw new Error(`bench/scenarios/${id}.ts calls itself ${scenario.id}`)
  return scenario
}

function isScenario(value: unknown): value is Scenario {
  return typeof value === 'object' && value !== null && 'id' in value && 'run' in value
}
