import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, expect } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { isRetryable } from '../../src/core/error-kind.ts'
import { readAnswer, type Row, type Statement } from '../../src/core/statement.ts'
import type { LeaseHeld, LeaseStatements } from '../../src/dialects/lease.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { until, type EngineContext } from '../engines/use.ts'
import { leaseRow, type LeaseRow } from './lease-rows.ts'

/** What a list of statements gave. `conflict` is the error of one that lost a race and may be sent again. */
export interface Reply {
  readonly answer: string
  readonly row?: Row | undefined
}

/** Sends a list as whoever uses the statements has to. */
export async function send(session: EngineSession, list: readonly Statement[]): Promise<Reply> {
  let reply: Reply = { answer: 'none' }
  try {
    for (const statement of list) {
      const rows = await session.run(statement)
      if (statement.answers === undefined) continue
      reply = { answer: readAnswer(statement.answers, rows), row: rows[0] }
    }
    return reply
  } catch (error) {
    const { kind } = classifyError(error)
    if (isRetryable(kind) || kind === 'unique-violation') return { answer: 'conflict' }
    throw error
  }
}

/** One lease of its own name, and those who contend for it on an engine. */
export interface Contest {
  readonly name: string
  readonly lease: LeaseStatements
  readonly row: LeaseRow
  readonly open: () => Promise<EngineSession>
  /** A claim of somebody new; on a new connection unless one is given. */
  readonly acquire: (options?: AcquireOptions) => Promise<Reply & { readonly held: LeaseHeld }>
  /** The same when nothing stands in the way. */
  readonly granted: (options?: AcquireOptions) => Promise<LeaseHeld>
  readonly renew: (held: LeaseHeld, ttlMs?: number) => Promise<string>
  readonly release: (held: LeaseHeld, holdMs?: number) => Promise<string>
}

export interface AcquireOptions {
  readonly ttlMs?: number
  readonly session?: EngineSession
  readonly name?: string
}

/** Gives contests on the engine, with the table made and all connections closed after each spec. */
export function contests(context: EngineContext): () => Promise<Contest> {
  const { lease } = registry[context.name as DialectName]
  const sessions: EngineSession[] = []
  const open = async (): Promise<EngineSession> => {
    const session = await context.engine.open()
    sessions.push(session)
    return session
  }
  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of lease.schema) await session.run(statement)
    await session.close()
  })
  afterEach(async () => {
    await Promise.allSettled(sessions.splice(0).map((session) => session.close()))
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })
  return async () => {
    const observer = await open()
    const name = `hl:spec:${randomUUID()}`
    const acquire: Contest['acquire'] = async ({
      ttlMs = 60_000,
      session = observer,
      name: other = name,
    } = {}) => {
      const claim = { name: other, owner: randomUUID() }
      const reply = await send(session, lease.acquire({ ...claim, ttlMs }))
      return { ...reply, held: { ...claim, fence: Number(reply.row?.fence) } }
    }
    const granted: Contest['granted'] = async (options) => {
      const { answer, held } = await acquire(options)
      expect(answer).toBe('granted')
      expect(held.fence).toSatisfy(Number.isSafeInteger)
      return held
    }
    return {
      name,
      lease,
      open,
      acquire,
      granted,
      row: leaseRow(context.name, observer, name),
      renew: async (held, ttlMs = 60_000) => (await send(observer, lease.renew(held, ttlMs))).answer,
      release: async (held, holdMs = 0) => (await send(observer, lease.release(held, holdMs))).answer,
    }
  }
}
