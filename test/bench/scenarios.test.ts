import { afterAll, describe, expect, inject, test } from 'vitest'

import type { Engine, Server } from '../engines/engine.ts'
import { loadEngine } from '../engines/engine-list.ts'
import type { Section } from '../../bench/scenario.ts'
import { loadScenario, scenarioIds } from '../../bench/scenario-list.ts'

const ids = await scenarioIds()

/** Databases of the servers that the tests have already, one for each scenario. */
const opened: Engine[] = []
async function serverOf(name: string): Promise<Server | undefined> {
  const shared = inject('engines').find((engine) => engine.name === name)?.server
  if (shared === undefined) return undefined
  const engine = await (await loadEngine(name)).connect(shared)
  opened.push(engine)
  return engine.server
}

afterAll(async () => {
  for (const engine of opened) await engine.close()
})

test('there are scenarios, and each file is one', async () => {
  expect(ids).toContain('queue')
  for (const id of ids)
    expect(await loadScenario(id)).toMatchObject({ id, title: expect.any(String) as string })
})

describe('a scenario that is run for a moment', () => {
  test.each(ids)('%s gives figures that can be shown', async (id) => {
    const { run } = await loadScenario(id)
    const databases = new Map<string, Promise<Server | undefined>>()
    const server = (name: string): Promise<Server | undefined> => {
      const known = databases.get(name) ?? serverOf(name)
      databases.set(name, known)
      return known
    }
    const shown: Section[] = []
    const show = (section: Section): Section => {
      shown.push(section)
      return section
    }
    const sections = await run({ effort: 'glimpse', server, say: () => {}, show })
    expect(new Set(shown), 'what is shown as soon as it is known').toEqual(new Set(sections))
    const asked = await Promise.all(databases.values())
    // a scenario whose engines are all missing has nothing to show
    if (asked.length === 0 || asked.some((one) => one !== undefined))
      expect(sections.length).toBeGreaterThan(0)
    for (const { title, unit, rows, goals } of sections) {
      expect([title, unit].every((text) => text !== '')).toBe(true)
      for (const { name, median, low, high } of rows) {
        expect([median, low, high].every(Number.isFinite), `${title}: ${name}`).toBe(true)
        expect(low <= median && median <= high, `${title}: ${name}`).toBe(true)
      }
      for (const { what, reached } of goals) expect(Number.isFinite(reached), `${title}: ${what}`).toBe(true)
    }
  })
})
