import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect } from 'vitest'

import { openClient } from '../../src/conformance/client.ts'
import type { Client, Subject } from '../../src/conformance/subject.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { postgresJsWay } from '../adapters/postgres-js-way.ts'
import { mariadbWay } from '../conformance/mariadb-way.ts'
import { adaptersOf, subjectOf } from '../conformance/subjects.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { drizzleWay } from '../orms/drizzle-way.ts'
import { knexWay } from '../orms/knex-way.ts'
import { mikroOrmWay } from '../orms/mikro-orm-way.ts'
import { prismaWay } from '../orms/prisma-way.ts'
import { sequelizeWay } from '../orms/sequelize-way.ts'
import { typeormWay } from '../orms/typeorm-way.ts'
import { subjectThrough } from '../orms/way.ts'

const orms = [
  mariadbWay,
  postgresJsWay,
  drizzleWay,
  knexWay,
  typeormWay,
  sequelizeWay,
  prismaWay,
  mikroOrmWay,
]

/** Every way to an engine that the tests have, by its name. */
function waysTo(engine: string): readonly (readonly [string, (url: string) => Subject])[] {
  const own = adaptersOf(engine).map(
    (adapter) => [adapter, (url: string) => subjectOf(engine, adapter, url)] as const,
  )
  const others = orms
    .filter(({ engines }) => engines.includes(engine))
    .map((way) => [way.name, (url: string) => subjectThrough(way, engine, url)] as const)
  return [...own, ...others]
}

export interface Way {
  readonly context: EngineContext
  /** Opens one more application, of this many connections. */
  readonly open: (size: number, url?: string) => Promise<Client>
  /** Runs a statement of somebody else. */
  readonly command: (sql: string) => Promise<readonly unknown[]>
}

/** Runs the specs once for each engine and way, on two tables, `aa` and `bb`, each with a row of number 1. */
export function describeWays(specs: (way: Way) => void, engines: readonly string[]): void {
  describeEngines(
    (context) => {
      beforeAll(async () => {
        const options = context.name === 'mysql' || context.name === 'mariadb' ? ' ENGINE = InnoDB' : ''
        for (const table of ['aa', 'bb']) {
          await commandOn(context, `DROP TABLE IF EXISTS ${table}`)
          await commandOn(
            context,
            `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)${options}`,
          )
          await commandOn(context, `INSERT INTO ${table} VALUES (1, 0)`)
        }
      })
      for (const [name, subject] of waysTo(context.name)) {
        describe(`through ${name}`, () => {
          specs(wayOf(context, subject))
        })
      }
    },
    { only: engines },
  )
}

function wayOf(context: EngineContext, subject: (url: string) => Subject): Way {
  const clients: Client[] = []
  afterAll(async () => {
    await Promise.all(clients.map(({ close }) => close()))
  })
  return {
    context,
    open: async (size, url = context.engine.server.url) => {
      const dialect = registry[context.name as DialectName]
      const server = { dialect, version: dialect.versions.assumed, tools: await dialect.tools() }
      const client = await openClient(subject(url), { size, server })
      clients.push(client)
      return client
    },
    command: (sql) => commandOn(context, sql),
  }
}

async function commandOn({ engine }: EngineContext, sql: string): Promise<readonly unknown[]> {
  const session = await engine.open()
  try {
    return await session.run({ sql, params: [] })
  } finally {
    await session.close()
  }
}

/** Sends a statement as the work would, by what it is given. */
export function sendByWork(client: Client, tx: object, sql: string): Promise<unknown> {
  const { executeQuery, query } = tx as {
    readonly executeQuery?: (query: object) => Promise<unknown>
    readonly query?: unknown
  }
  if (executeQuery !== undefined) return executeQuery.call(tx, CompiledQuery.raw(sql))
  if (typeof query === 'function') return query.call(tx, sql) as Promise<unknown>
  return client.run(tx, { sql, params: [] })
}

/** Adds one to the row of a table. */
export function addTo(client: Client, tx: object, table: string): Promise<unknown> {
  return sendByWork(client, tx, `UPDATE ${table} SET n = n + 1 WHERE id = 1`)
}

/** What an error says, and those that led to it. */
export function wordsOf(error: unknown): string {
  const words: string[] = []
  for (let one = error; one instanceof Error; one = one.cause) words.push(String(one))
  return words.join(', ')
}

export function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable('it went through'),
    (error: unknown) => error,
  )
}
