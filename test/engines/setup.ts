import type { TestProject } from 'vitest/node'

import { memoryFolder } from './memory-folder.ts'
import {
  checkRequired,
  report,
  requiredEngines,
  startEngines,
  stopEngines,
  type EngineReport,
} from './start-engines.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly engines: readonly EngineReport[]
  }
}

/** Starts every engine once for the whole run and tells the test files where they are. Gives back how to stop them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  delete process.env.DATABASE_URL // the developer's own database is none of the tests'
  const temporary = await memoryFolder()
  if (temporary !== undefined) process.env.TMPDIR = temporary.path // the processes of the tests have it from here
  const stop = await startAll(project)
  return async () => {
    await stop()
    await temporary?.remove()
  }
}

async function startAll(project: TestProject): Promise<() => Promise<void>> {
  const required = await requiredEngines()
  const starts = await startEngines()
  try {
    checkRequired(required, starts)
  } catch (error) {
    await stopEngines(starts)
    throw error
  }
  project.provide('engines', starts.map(report))
  return () => stopEngines(starts)
}
