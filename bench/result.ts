import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { chartOf } from './chart.ts'
import type { Machine } from './machine.ts'
import { pageOf } from './page.ts'
import type { Scenario, Section } from './scenario.ts'

/** What is kept of one run of a scenario. */
export interface Result extends Pick<Scenario, 'id' | 'title' | 'about'> {
  /** The day, as in 2026-11-15. */
  readonly on: string
  readonly tookSeconds: number
  readonly machine: Machine
  readonly sections: readonly Section[]
}

/** The results that are in a folder, by the order of their names. */
export async function readResults(folder: string): Promise<readonly Result[]> {
  const files = await readdir(folder).catch(() => [])
  const texts = await Promise.all(
    files
      .filter((name) => name.endsWith('.json'))
      .toSorted()
      .map((name) => readFile(join(folder, name), 'utf8')),
  )
  return texts.map((text) => JSON.parse(text) as Result)
}

/** Replaces what there is of that scenario: its figures, its charts, and the page of all scenarios. */
export async function writeResult(folder: string, result: Result): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { id, sections } = result
  await writeFile(join(folder, `${id}.json`), `${JSON.stringify(result, null, 2)}\n`)
  const charts = (await readdir(folder)).filter((name) => isChartOf(name, id))
  for (const name of charts) await rm(join(folder, name))
  for (const [index, section] of sections.entries())
    await writeFile(join(folder, `${id}-${index + 1}.svg`), chartOf(section))
  await writeFile(join(folder, 'README.md'), pageOf(await readResults(folder)))
}

function isChartOf(name: string, id: string): boolean {
  return name.startsWith(`${id}-`) && /^\d+\.svg$/.test(name.slice(id.length + 1))
}
