import { setTimeout as pause } from 'node:timers/promises'

import { classifyFor } from '../core/classify.ts'
import type { Row, Statement } from '../core/statement.ts'
import { awakeMs } from './awake.ts'
import type { Ground } from './ground.ts'
import { BrokenLawError } from './broken-law.ts'

const withinMs = 5_000

/**
 * Gets ready to have the server end a connection. What it gives does so, and settles with the error by which the
 * driver then says that the connection is gone.
 */
export async function cutterOf(
  { facts, command }: Ground,
  run: (statement: Statement) => Promise<readonly Row[]>,
): Promise<() => Promise<Error>> {
  const { self, kill } = facts.tools.inspector
  if (self === undefined || kill === undefined) throw new TypeError('nobody can end a session of this engine')
  const [row] = await run(self)
  return async () => {
    await command(kill(String(row?.id)))
    const deadline = awakeMs() + withinMs
    while (awakeMs() < deadline) {
      const error = await errorOf(run(self))
      if (error instanceof Error && classifyFor(error, facts.dialect).kind === 'connection-lost') return error
      await pause(5)
    }
    throw new BrokenLawError('a connection that the server has ended does not look lost')
  }
}

/** What this rejects with; undefined when it does not. */
export function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}
