import pg from 'pg'

import type { SqlStatement } from '../../../src/core/statement.ts'
import type { EngineSession } from '../../engines/engine.ts'
import type { Scenario } from '../scenario.ts'
import { blocked, errorOf, type Stage } from '../stage.ts'
import { sql } from './sql.ts'

export function lockRow(id: number): SqlStatement {
  return sql(`select n from items where id = ${id} for update`)
}

/** A session that holds row 1, the advisory lock 1 and, by that, a lock on the table. */
async function holder(stage: Stage): Promise<EngineSession> {
  const session = await stage.open()
  await session.begin()
  await session.run(lockRow(1))
  await session.run(sql('select pg_advisory_xact_lock(1)'))
  return session
}

/** A statement that meets the holder, under the given settings. */
export function meets(statement: string, settings = 'select'): Scenario['run'] {
  return async (stage) => {
    await holder(stage)
    const session = await stage.victim()
    await session.run(sql(settings))
    return { session, error: await errorOf(session.run(sql(statement))) }
  }
}

/** A session that waits for the holder while `act` happens to it. */
export function interrupted(
  act: (stage: Stage, waiting: EngineSession) => Promise<unknown>,
): Scenario['run'] {
  return async (stage) => {
    await holder(stage)
    const session = await stage.victim()
    const waiting = await blocked(stage, session, lockRow(1))
    await act(stage, session)
    return { session, error: await waiting.error }
  }
}

/** A client of the driver itself, for what a session does not show. */
export async function client(stage: Stage, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const raw = new pg.Client({ connectionString: stage.engine.server.url, ...options })
  raw.on('error', () => {})
  stage.afterwards(() => raw.end().catch(() => {}))
  await raw.connect()
  return raw
}

/** Cuts the driver's own socket from this side. */
export function cut(raw: pg.Client): void {
  ;(raw as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy()
}
