import { afterAll, beforeAll } from 'vitest'

import type { StartedServer } from './engine.ts'
import { messageOf } from './run-command.ts'

/** Ends a test early, with the reason in its report. */
export type Skip = (reason: string) => never

/** On a new machine it is fetched first. */
const START_WITHIN_MS = 300_000

/**
 * A server for one test file beside the engines: another way to one of them, one that is set up in a special way, or
 * several that belong together.
 *
 * A test asks for it with its own `skip`, and is skipped with the reason where it cannot be had. With
 * `HOLDFAST_REQUIRE_EXTRA=1` it fails instead, with the same reason: reports name tests that fail, not hooks.
 */
export function useExtraServer<T extends Pick<StartedServer, 'stop'> = StartedServer>(
  start: () => Promise<T>,
): (skip: Skip) => T {
  let started: T | undefined
  let reason: unknown = new Error('it was not started')
  beforeAll(async () => {
    try {
      started = await start()
    } catch (error) {
      reason = error
    }
  }, START_WITHIN_MS)
  afterAll(() => started?.stop())
  return (skip) => {
    if (started !== undefined) return started
    if ((process.env.HOLDFAST_REQUIRE_EXTRA ?? '') !== '') throw reason
    return skip(messageOf(reason))
  }
}
