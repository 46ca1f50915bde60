import { afterAll, afterEach, beforeAll } from 'vitest'

import type { Target } from '../../src/core/request.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import type { InOrder } from '../../src/locks/patterns/in-order.ts'
import type { Once } from '../../src/locks/patterns/once.ts'
import type { OptimisticWrites } from '../../src/locks/patterns/optimistic.ts'
import { lockingRead } from '../../src/locks/rows/query.ts'
import { meet, type Meeting } from '../../src/locks.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { subjects, type Connected } from '../adapters/subject.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { accountStatements, type AccountStatements } from './accounts.ts'

/** One process of an application, with connections of its own. */
export interface Node extends OptimisticWrites<unknown> {
  readonly meeting: Meeting<unknown>
  readonly once: Once<unknown>
  readonly inOrder: InOrder<unknown>
  readonly rows: (tx: unknown, target: Target) => Promise<readonly Row[]>
  /** Runs a statement of the application in the transaction. */
  readonly run: (tx: unknown, statement: Statement) => Promise<readonly Row[]>
}

/** What the specs of one engine have, inside tests and hooks. */
export interface PatternStage extends Pick<EngineContext, 'name' | 'engine'> {
  readonly sql: AccountStatements
  /** More than one of them are several processes. */
  readonly node: (index?: number) => Node
  /** Runs a statement by itself. */
  readonly run: (statement: Statement) => Promise<readonly Row[]>
}

export interface PatternChoice {
  readonly nodes?: number
  readonly only?: readonly string[]
}

/** Runs the specs once for each engine, on fresh accounts 1 to 3. After each test nothing may be held. */
export function describePatterns(specs: (stage: PatternStage) => void, choice: PatternChoice = {}): void {
  const { nodes = 1, only } = choice
  describeEngines((context) => specs(stageOf(context, nodes)), only === undefined ? {} : { only })
}

function stageOf(context: EngineContext, count: number): PatternStage {
  const connected: Connected[] = []
  const nodes: Node[] = []
  const sql = accountStatements(context.name)
  const run = async (statement: Statement): Promise<readonly Row[]> => {
    const session = await context.engine.open()
    return session.run(statement).finally(() => session.close())
  }
  beforeAll(async () => {
    const { connect } = subjectOf(context.name)
    for (let index = 0; index < count; index += 1) {
      const one = await connect(context.engine.server.url)
      connected.push(one)
      nodes.push(nodeOf(meet(one.sessions, [registry[context.name as DialectName]])))
    }
    for (const statement of sql.create) await run(statement)
  })
  afterEach(async () => {
    await until(
      async () => (await context.engine.leftovers()).length === 0,
      'an engine on which nothing is left',
    )
    for (const statement of sql.reset) await run(statement)
  })
  afterAll(async () => {
    for (const one of connected) await one.close()
  })
  return {
    name: context.name,
    get engine() {
      return context.engine
    },
    sql,
    node: (index = 0) => nodes[index] ?? unready(),
    run,
  }
}

function subjectOf(engine: string): (typeof subjects)[number] {
  const found = subjects.find(
    ({ title, engines }) => engines.includes(engine) && !title.includes('one handle'),
  )
  return found ?? unready()
}

function nodeOf(meeting: Meeting<unknown>): Node {
  const { find, shared, lockRows } = meeting
  return {
    meeting,
    ...shared,
    rows: (tx, target) => lockRows(tx, { target, options: {}, readOf: (plan) => lockingRead(target, plan) }),
    run: (tx, statement) => find(tx).session.run(statement),
  }
}

function unready(): never {
  throw new Error('is there only inside a test or a hook')
}

export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
}
