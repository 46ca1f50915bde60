import { afterAll, afterEach, beforeAll, describe } from 'vitest'

import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { createJobTable, type JobTable } from './job-table.ts'
import { openWorkshop, type Workshop, type WorkshopOptions } from './workshop.ts'

/** What the specs about queues have, inside tests and hooks. */
export interface QueueStage extends EngineContext {
  readonly table: JobTable
  readonly shop: Workshop
  /** Whether a table is a collection. */
  readonly isDocuments: boolean
}

export interface StageOptions extends WorkshopOptions {
  readonly only?: readonly string[]
}

/** Runs the specs once for each engine, with an empty table of jobs before each. After each nothing may be held. */
export function describeQueues(specs: (stage: QueueStage) => void, options: StageOptions = {}): void {
  const { only, ...workshop } = options
  describeEngines((context) => specs(stageOf(context, workshop)), only === undefined ? {} : { only })
}

/** The same also through Kysely. */
export function describeQueuesAndKysely(specs: (stage: QueueStage) => void): void {
  describeQueues(specs)

  describe('through Kysely', () => {
    describeQueues(specs, { only: ['postgres'], adapter: 'kysely over pg' })
    describeQueues(specs, { only: ['mysql', 'mariadb'], adapter: 'kysely over mysql2' })
    describeQueues(specs, { only: ['sqlite'], adapter: 'kysely over better-sqlite3' })
  })
}

/** The same also on servers that cannot skip locked rows. */
export function describeAllQueues(specs: (stage: QueueStage) => void): void {
  describeQueuesAndKysely(specs)

  describe('on a server that cannot skip locked rows', () => {
    describeQueues(specs, { only: ['mysql'], version: '5.7.44' })
    describeQueues(specs, { only: ['mariadb'], version: '10.5.29' })
  })
}

function stageOf(context: EngineContext, options: WorkshopOptions): QueueStage {
  let table: JobTable | undefined
  let shop: Workshop | undefined
  const isDocuments = context.name === 'mongodb'
  beforeAll(async () => {
    table = await createJobTable(context.engine, isDocuments)
    shop = await openWorkshop(context.name, context.engine.server.url, options)
  })
  afterAll(async () => {
    await shop?.close()
    await table?.close()
  })
  afterEach(async () => {
    await table?.empty()
    await until(
      async () => (await context.engine.leftovers()).length === 0,
      'an engine on which nothing is left',
    )
  })
  return {
    name: context.name,
    server: context.server,
    isDocuments,
    get engine() {
      return context.engine
    },
    get kind() {
      return context.kind
    },
    get table() {
      return there(table)
    },
    get shop() {
      return there(shop)
    },
  }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('is there only inside a test or a hook')
  return value
}
