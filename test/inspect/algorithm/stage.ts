import { afterAll, beforeAll } from 'vitest'

import type { Sessions } from '../../../src/core/session.ts'
import type { SqlStatement, Statement } from '../../../src/core/statement.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import type { Inspector, Question, Replies } from '../../../src/dialects/tools.ts'
import { meet, type SharedLocks } from '../../../src/locks.ts'
import { registry, findDialect, type DialectName } from '../../../src/registry.ts'
import { subjects, type Connected } from '../../adapters/subject.ts'
import { describeEngines, type EngineContext } from '../../engines/use.ts'

/** What the specs of one engine have, inside tests and hooks. */
export interface Stage extends EngineContext {
  /** Locks of one more process, on a pool of its own; `dialect` takes the place of the right one. */
  readonly process: (dialect?: Dialect) => Promise<Process>
}

export interface Process {
  readonly sessions: Sessions
  readonly locks: SharedLocks<unknown>
}

/** Runs the specs on each engine, through its own driver. */
export function describeInspect(specs: (stage: Stage) => void, only?: readonly string[]): void {
  describeEngines((context) => specs(stageOf(context)), only && { only })
}

function stageOf(context: EngineContext): Stage {
  const opened: Connected[] = []
  const name = context.name as DialectName
  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of findDialect(name).lease.schema) await session.run(statement)
    await session.close()
  })
  afterAll(async () => {
    for (const connected of opened) await connected.close()
  })
  return {
    name,
    server: context.server,
    get engine() {
      return context.engine
    },
    get kind() {
      return context.kind
    },
    process: async (dialect) => {
      const subject = subjects.findLast(
        ({ title, engines }) => !title.startsWith('kysely') && engines.includes(name),
      )
      if (subject === undefined) throw new Error(`no adapter reaches ${name}`)
      const connected = await subject.connect(context.engine.server.url)
      opened.push(connected)
      const { shared } = meet(connected.sessions, [registry[name]], dialect && { dialect })
      return { sessions: connected.sessions, locks: shared }
    },
  }
}

/** The engine's dialect, with other questions. `answers` is told the replies. */
export function asking(
  name: string,
  questions: Readonly<Record<string, Question>>,
  answers: (replies: Replies) => void = () => {},
): Dialect {
  const dialect = findDialect(name as DialectName)
  const inspector: Inspector = {
    questions: () => questions,
    read: (replies) => {
      answers(replies)
      return { sessions: [], leases: [], unseen: ['what the answers leave out'] }
    },
    blindSpots: ['what is never shown'],
    showsWaiting: false,
  }
  const tools = async (): ReturnType<NonNullable<Dialect['tools']>> => {
    const own = await dialect.tools?.()
    if (own === undefined) throw new Error(`${name} has no tools`)
    return { ...own, inspector }
  }
  return { ...dialect, tools }
}

export function sql(text: string): SqlStatement {
  return { sql: text, params: [] }
}

/** A statement that the engine answers, and one that it refuses. */
export function statementsOf(name: string): { readonly good: Statement; readonly bad: Statement } {
  return name === 'mongodb'
    ? { good: { command: { ping: 1 } }, bad: { command: { nonsense: 1 } } }
    : { good: sql('SELECT 1 AS n'), bad: sql('SELECT n FROM nowhere') }
}
