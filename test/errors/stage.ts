import type { Statement } from '../../src/core/statement.ts'
import type { Engine, EngineSession } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import type { Provocations } from './scenario.ts'

/** Where a scenario plays: sessions that are closed after it, and a way to see who waits. */
export interface Stage {
  readonly engine: Engine
  readonly open: () => Promise<EngineSession>
  /** A session with an open transaction that has written something: the mark `before`. */
  readonly victim: (mode?: string) => Promise<EngineSession>
  /** The same of a session that is open already. */
  readonly marked: (session: EngineSession, mode?: string) => Promise<EngineSession>
  readonly hasMarked: (session: EngineSession) => boolean
  /** Runs `end` after the scenario, whatever comes. */
  readonly afterwards: (end: () => unknown) => void
  readonly close: () => Promise<void>
}

export function makeStage(engine: Engine, { mark }: Pick<Provocations, 'mark'>): Stage {
  const ends: (() => unknown)[] = []
  const marks = new Set<EngineSession>()
  const open = async (): Promise<EngineSession> => {
    const session = await engine.open()
    ends.push(() => session.close())
    return session
  }
  const begin = async (session: EngineSession, mode?: string): Promise<EngineSession> => {
    await session.begin(mode)
    await session.run(mark('before'))
    marks.add(session)
    return session
  }
  return {
    engine,
    open,
    victim: async (mode) => begin(await open(), mode),
    marked: begin,
    hasMarked: (session) => marks.has(session),
    afterwards: (end) => void ends.push(end),
    close: async () => {
      // all at once: one session may wait for what another one holds
      await Promise.allSettled(ends.map(async (end) => end()))
    },
  }
}

/** The statement, given up to the server and seen waiting there for a lock. */
export async function blocked(stage: Stage, session: EngineSession, statement: Statement): Promise<Outcome> {
  const outcome = outcomeOf(session.run(statement))
  await until(() => stage.engine.isWaiting(session), 'a session that waits for a lock')
  return outcome
}

/** How something ends, without ever being an unhandled rejection. */
export interface Outcome {
  /** The error. Rejects when there was none. */
  readonly error: Promise<unknown>
  readonly settled: Promise<void>
}

export function outcomeOf(work: Promise<unknown>): Outcome {
  const error = work.then(
    () => Promise.reject(new Error('nothing failed here')),
    (thrown: unknown) => thrown,
  )
  error.catch(() => {})
  return {
    error,
    settled: work.then(
      () => {},
      () => {},
    ),
  }
}

/** The error that the work fails with. */
export function errorOf(work: Promise<unknown>): Promise<unknown> {
  return outcomeOf(work).error
}
