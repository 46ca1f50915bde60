import { afterAll, afterEach, beforeAll, describe } from 'vitest'

import type { Deadlock } from '../../src/core/deadlock.ts'
import { RetryableTransactionError } from '../../src/core/errors.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import type { EngineSession } from '../engines/engine.ts'
import { contextWith, describeEngines, until, type EngineContext } from '../engines/use.ts'
import { libraries, type Way } from './ways.ts'

/** Two tables of one row that matters, and somebody who does not use the library. */
export interface Stage extends EngineContext {
  readonly way: Way
  /** A session in a transaction of its own, which the server does not choose as the victim. */
  readonly rival: (ballast?: string) => Promise<EngineSession>
}

export const once = { attempts: 1, isolation: 'read committed' } as const

export const change = (table: string, n: number, id = 1): string =>
  `update ${table} set n = ${n} where id = ${id}`

/** The library has changed an order and wants the stock, which the rival has, who wants the order. The library loses. */
export async function collide(
  { way, engine }: Pick<Stage, 'way' | 'engine'>,
  rival: EngineSession,
  options: TransactionOptions = once,
): Promise<void> {
  await run(rival, change('stock', 1))
  let waiting: Promise<unknown> | undefined
  await way.locks
    .transaction(async (tx) => {
      if (waiting !== undefined) return
      await way.run(tx, change('orders', 2))
      waiting = run(rival, change('orders', 3))
      await until(() => engine.isWaiting(rival), 'the rival waiting')
      await way.run(tx, change('stock', 4))
    }, options)
    .finally(() => waiting)
}

/** These remember one deadlock, the latest, for all their users: other files have theirs on the common server. */
export const alone: readonly string[] = ['mysql', 'mariadb']

/** Runs the specs for each library on each engine that it reaches. */
export function describeLibraries(specs: (stage: Stage) => void): void {
  for (const { title, engines, connect } of libraries)
    describe(title, () => {
      describeEngines((context) => specs(stageOn(context, connect)), { only: engines, alone })
    })
}

export function stageOn(context: EngineContext, connect: (url: string, engine: string) => Way): Stage {
  let way: Way | undefined
  const rivals: EngineSession[] = []
  beforeAll(async () => {
    const session = await context.engine.open()
    const options = context.name === 'postgres' ? '' : ' engine = innodb'
    for (const table of ['stock', 'orders', 'weight', 'weight2'])
      await run(session, `create table ${table} (id int primary key, n int not null)${options}`)
    for (const table of ['stock', 'orders']) await run(session, `insert into ${table} values (1, 0), (2, 0)`)
    await session.close()
    way = connect(context.engine.server.url, context.name)
  })
  afterEach(async () => {
    for (const rival of rivals.splice(0)) await rival.close()
    await until(
      async () => (await context.engine.leftovers()).length === 0,
      'an engine on which nothing is left',
    )
  })
  afterAll(() => way?.close())
  return contextWith(context, {
    get way() {
      if (way === undefined) throw new Error('the way is there only inside of a test')
      return way
    },
    rival: async (ballast = 'weight') => {
      const rival = await heavy(context, ballast)
      rivals.push(rival)
      return rival
    },
  })
}

/** PostgreSQL's victim is who looks first; InnoDB's is who has changed less. */
async function heavy({ engine, name }: EngineContext, ballast: string): Promise<EngineSession> {
  const session = await engine.open()
  if (name === 'postgres') await run(session, "set deadlock_timeout = '1h'")
  await session.begin()
  if (name !== 'postgres')
    await run(
      session,
      `insert into ${ballast} values ${Array.from({ length: 50 }, (_, id) => `(${id}, 0)`).join()}`,
    )
  return session
}

export function run(session: EngineSession, text: string): Promise<unknown> {
  return session.run({ sql: text, params: [] })
}

/** What a call ends with, and the deadlock that it tells of. */
export async function lossOf(
  call: Promise<unknown>,
): Promise<{ readonly error: RetryableTransactionError; readonly deadlock: Deadlock }> {
  const error: unknown = await call.then(
    () => new Error('the call has not failed'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof RetryableTransactionError)) throw error
  if (error.deadlock === undefined) throw new Error('the error tells of no deadlock', { cause: error })
  return { error, deadlock: error.deadlock }
}

/** PostgreSQL finds a deadlock after a second; what the others ran is told for half of one. */
const quickMs = 1500

/**
 * A deadlock of which everything was seen. The server is asked for a second and no longer: a machine that is too slow for
 * that has not seen all, and says so. Then another is lost. One that was quick has no excuse.
 */
export async function seenWhole<Loss extends { readonly deadlock: Deadlock | undefined }>(
  lose: () => Promise<Loss>,
): Promise<Loss> {
  for (let tries = 1; ; tries += 1) {
    const began = performance.now()
    const loss = await lose()
    const wasQuick = performance.now() - began < quickMs
    if (loss.deadlock?.unseen.length === 0 || wasQuick || tries === 10) return loss
  }
}
