import { afterAll, afterEach, beforeAll, describe } from 'vitest'

import type { Sessions } from '../../src/core/session.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases, type Lease, type LeaseRequest, type Leases } from '../../src/locks/lease/lease.ts'
import { meet, type Meeting } from '../../src/locks.ts'
import { registry, findDialect, type DialectName } from '../../src/registry.ts'
import { withDelayedAnswers } from '../adapters/delayed-answers.ts'
import { subjects, type Connected } from '../adapters/subject.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

/** What the server has of a lease. */
export interface LeaseRow {
  readonly owner: string | null
  readonly fence: number
  /** In milliseconds of the server's clock. */
  readonly expiresAt: number
}

/** What the specs of one driver and engine have, inside tests and hooks. */
export interface LeaseStage extends Pick<EngineContext, 'name' | 'engine'> {
  /** Leases as one process would have them; each call is another process. */
  readonly process: (watch?: ProcessWatch) => Leases
  readonly sessions: () => Sessions
  /** A name that no other test uses. */
  readonly fresh: () => string
  readonly row: (name: string) => Promise<LeaseRow | undefined>
  /** Changes the row of a lease as nobody should. */
  readonly tamper: (name: string, change: { owner?: string; expiresAt?: number }) => Promise<void>
  /** Transactions of the same database. */
  readonly meeting: () => Meeting<unknown>
}

export interface ProcessWatch {
  /** Told of each request's session; what it throws is why there is none. */
  readonly onOpen?: () => void
  /** Comes between the answer to a statement and whoever waits for it. */
  readonly onAnswer?: (statement: string) => Promise<void> | void
}

/** Runs the specs once for each driver and engine. Leases that a test leaves are released. */
export function describeLeases(specs: (stage: LeaseStage) => void, only?: readonly string[]): void {
  for (const { title, engines, connect } of subjects) {
    if (title.startsWith('kysely')) continue
    const wanted = engines.filter((engine) => only?.includes(engine) !== false)
    if (wanted.length === 0) continue
    describe(title, () => {
      describeEngines((context) => specs(stageOf(context, connect)), { only: wanted })
    })
  }
}

const taken: Lease[] = []

/** Takes a lease that is released after the test. */
export async function take(
  leases: Leases,
  name: string,
  options: LeaseRequest['options'] = {},
): Promise<Lease> {
  const lease = await leases.take({ key: name, name, options })
  taken.push(lease)
  return lease
}

let names = 0

function stageOf(context: EngineContext, connect: (url: string) => Promise<Connected>): LeaseStage {
  let connected: Connected | undefined
  let meeting: Meeting<unknown> | undefined
  const name = context.name as DialectName
  const sessions = (): Sessions => connected?.sessions ?? unready()
  beforeAll(async () => {
    connected = await connect(context.engine.server.url)
    meeting = meet(connected.sessions, [registry[name]])
  })
  afterEach(
    async () => void (await Promise.all(taken.splice(0).map((lease) => lease.release().catch(() => {})))),
  )
  afterAll(() => connected?.close())
  const run = async (statement: Statement): Promise<readonly Row[]> => {
    const session = await context.engine.open()
    return session.run(statement).finally(() => session.close())
  }
  return {
    name,
    get engine() {
      return context.engine
    },
    sessions,
    process: ({ onOpen, onAnswer } = {}) => {
      const { open, ...others } = onAnswer ? withDelayedAnswers(sessions(), onAnswer) : sessions()
      const watched: Sessions['open'] = async () => {
        onOpen?.()
        return open()
      }
      return createLeases({
        sessions: { ...others, open: watched },
        server: identify({ dialects: [findDialect(name)], version: undefined }),
      })
    },
    fresh: () => `hl:test:${process.pid}:${(names += 1)}`,
    row: async (of) => readRow((await run(rowStatement(name, of)))[0]),
    tamper: async (of, change) => void (await run(tamperStatement(name, of, change))),
    meeting: () => meeting ?? unready(),
  }
}

function rowStatement(engine: string, name: string): Statement {
  return engine === 'mongodb'
    ? { command: { find: '_leases', filter: { _id: name } } }
    : { sql: `SELECT owner, fence, expires_at FROM _leases WHERE name = '${name}'`, params: [] }
}

function tamperStatement(
  engine: string,
  name: string,
  { owner, expiresAt }: { owner?: string; expiresAt?: number },
): Statement {
  if (engine === 'mongodb') {
    const $set = {
      ...(owner !== undefined && { owner }),
      ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
    }
    return { command: { update: '_leases', updates: [{ q: { _id: name }, u: { $set } }] } }
  }
  const changes = [
    ...(owner === undefined ? [] : [`owner = '${owner}'`]),
    ...(expiresAt === undefined ? [] : [`expires_at = ${expiresAt}`]),
  ]
  return { sql: `UPDATE _leases SET ${changes.join(', ')} WHERE name = '${name}'`, params: [] }
}

function readRow(row: Row | undefined): LeaseRow | undefined {
  if (row === undefined) return undefined
  return {
    owner: typeof row.owner === 'string' ? row.owner : null,
    fence: Number(row.fence),
    expiresAt: Number(row.expires_at ?? row.expiresAt),
  }
}

function unready(): never {
  throw new Error('the stage is there only inside a test or a hook')
}
