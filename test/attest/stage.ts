import { afterAll, afterEach, beforeAll, describe } from 'vitest'

import type { Attestation, Finding } from '../../src/core/attestation.ts'
import type { Sessions } from '../../src/core/session.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { joinLocks, type Locks } from '../../src/locks.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { subjects, type Connected } from '../adapters/subject.ts'
import { contextWith, describeEngines, until, type EngineContext } from '../engines/use.ts'

/** What the specs of one driver and engine have, inside tests and hooks. */
export interface Stage extends EngineContext {
  readonly dialect: (typeof registry)[DialectName]
  readonly sessions: () => Sessions
  /** Locks as an application has them, of this dialect instead of the right one. */
  readonly locks: (dialect?: Dialect) => Locks<unknown>
  /** Runs statements beside everything else. */
  readonly run: (...statements: readonly (Statement | string)[]) => Promise<readonly Row[]>
}

export interface StageChoice {
  readonly only?: readonly string[]
  /** By the titles of the ways to an engine. */
  readonly isWanted?: (title: string) => boolean
}

/** Drivers that open as many connections as are wanted, and share none: two at least. */
function hasTwoConnections(title: string): boolean {
  return !/one handle|kysely over better-sqlite3/.test(title)
}

/** Runs the specs once for each driver and engine. After each test nothing may be left on the engine. */
export function describeAttest(
  specs: (stage: Stage) => void,
  { only, isWanted = hasTwoConnections }: StageChoice = {},
): void {
  for (const { title, engines, connect } of subjects.filter((subject) => isWanted(subject.title))) {
    const chosen = engines.filter((engine) => only?.includes(engine) !== false)
    if (chosen.length === 0) continue
    describe(title, () => {
      describeEngines((context) => specs(stageOf(context, connect)), { only: chosen })
    })
  }
}

function stageOf(context: EngineContext, connect: (url: string) => Promise<Connected>): Stage {
  let connected: Connected | undefined
  const dialect = registry[context.name as DialectName]
  const sessions = (): Sessions => connected?.sessions ?? unready()
  beforeAll(async () => {
    connected = await connect(context.engine.server.url)
  })
  afterAll(() => connected?.close())
  afterEach(() =>
    until(async () => (await context.engine.leftovers()).length === 0, 'an engine on which nothing is left'),
  )
  return contextWith(context, {
    dialect,
    sessions,
    locks: (other = dialect) => joinLocks(sessions(), [], { dialect: other }),
    run: async (...statements) => {
      const session = await context.engine.open()
      try {
        let rows: readonly Row[] = []
        for (const one of statements)
          rows = await session.run(typeof one === 'string' ? { sql: one, params: [] } : one)
        return rows
      } finally {
        await session.close()
      }
    },
  })
}

function unready(): never {
  throw new Error('the stage is there only inside a test or a hook')
}

/** What was observed of each capability. */
export function observedIn({ capabilities }: Attestation): Readonly<Record<string, string>> {
  return Object.fromEntries(capabilities.map(({ capability, observed }) => [capability, observed]))
}

export function idsIn({ findings }: Attestation): readonly string[] {
  return findings.map(({ id }) => id)
}

export function findingIn({ findings }: Attestation, id: string): Finding | undefined {
  return findings.find((finding) => finding.id === id)
}

export type { Attestation }
