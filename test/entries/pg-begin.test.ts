import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { createLocks, type PgLocksOptions } from '../../src/entries/pg.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { Cursor } from '../bodies/cursor.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describeEngines(specs, { only: ['postgres'] })

type Body = (tx: pg.PoolClient) => Promise<unknown>

const insert = 'insert into mark (v) values ($1)'
const circular: Record<string, unknown> = {}
circular.self = circular

/** Tags what it sends, as those do who want to find it again in the server's log. */
class Tagging extends pg.Client {
  override query(config: unknown, ...rest: never[]): never {
    const { text } = config as { readonly text?: string }
    const tagged = typeof config === 'string' ? `/* tag */ ${config}` : { ...(config as object), text }
    return super.query(tagged as never, ...rest) as never
  }
}

/** Measures how long a query takes. */
class Measuring extends pg.Client {
  override query(config: never, ...rest: never[]): never {
    const answer = super.query(config, ...rest) as unknown
    return (
      rest.some((one) => typeof one === 'function')
        ? answer
        : (answer as Promise<unknown>).then((result) => result)
    ) as never
  }
}

interface Case {
  readonly body: Body
  readonly pool?: pg.PoolConfig & { readonly Client?: typeof pg.Client; readonly binary?: boolean }
  readonly options?: TransactionOptions
}

const caught =
  (...args: readonly unknown[]): Body =>
  async (tx) => {
    await (tx.query as (...given: readonly unknown[]) => Promise<unknown>)(...args).catch(() => {})
    await tx.query(insert, ['a'])
  }

const reused: Body = (tx) => {
  const query = { text: insert, values: [''] }
  return Promise.all(
    ['a', 'b', 'c'].map((value) => {
      query.values = [value]
      return tx.query(query)
    }),
  )
}

const closing =
  (isRead: boolean): Body =>
  async (tx) => {
    const cursor = tx.query(new Cursor('select generate_series(1, 5) as n') as never) as unknown as Cursor
    if (isRead) cursor.read(1).catch(() => {})
    await cursor.close()
    await tx.query(insert, ['a'])
  }

const first = (text: string): Body => {
  return async (tx) => {
    const { rows } = await tx.query(text)
    await tx.query(insert, ['a'])
    return rows as unknown
  }
}

const cases: Readonly<Record<string, Case>> = {
  'queries of one object, which is changed for each of them': { body: reused },
  'a first query whose values are no list, caught': { body: caught('select $1', 'text') },
  'a first query with a value that has no text, caught': { body: caught('select $1::json', [circular]) },
  'a first query that takes longer than the driver waits, caught': {
    body: async (tx) => {
      await tx.query('select pg_sleep(4)').catch(() => {})
      // waits for what the server still does
      await tx.query({ text: insert, values: ['a'], query_timeout: 60_000 } as pg.QueryConfig)
    },
    pool: { query_timeout: 3000 },
  },
  'a first query that takes longer than the budget': {
    body: first("select pg_sleep(6.5)::text, 'done' as what"),
    options: { budgetMs: 1000, attempts: 1 },
  },
  'a cursor that is closed at once': { body: closing(false) },
  'a cursor that is closed while it is read': { body: closing(true) },
  'a client that tags what it sends': { body: first('select 1 as n'), pool: { Client: Tagging } },
  'a client that measures its queries': { body: first('select 1 as n'), pool: { Client: Measuring } },
  'a client that reads binary values': {
    body: first(`select 1.5::numeric as n, '{"a": 1}'::jsonb as j`),
    pool: { binary: true },
  },
  'a placeholder without a value': { body: first('select $1') },
  'no query at all': { body: caught(null) },
}

/** A transaction is the same whether its beginning travels with its first statement or comes before it. */
function specs(context: EngineContext): void {
  let observer: pg.Pool

  beforeAll(async () => {
    observer = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
    await observer.query('create table mark (v text not null)')
  })
  beforeEach(() => observer.query('truncate mark'))
  afterAll(() => observer.end())

  /** What became of a body: what it gave or threw, what is stored, and what the pool's only connection is like after it. */
  async function outcomeOf({ body, pool: own, options }: Case, how: PgLocksOptions): Promise<unknown> {
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1, ...own })
    const locks = createLocks(pool, how)
    await locks.transaction(async () => {}) // connects, and asks the server once what it is
    let runs = 0
    const work: Body = (tx) => {
      runs += 1
      return body(tx)
    }
    const told = await locks.transaction(work as never, options).then(
      (value: unknown) => ({ value }),
      (error: unknown) => {
        const { code, message } = error as Error & { readonly code?: string }
        return { code, message }
      },
    )
    const { rows: stored } = await observer.query('select v from mark')
    const { rows: left } = await pool.query(
      "select current_setting('lock_timeout') as lock_timeout, txid_current_if_assigned() as id",
    )
    await pool.end()
    await observer.query('truncate mark')
    return { told, runs, stored: stored as unknown, left: left as unknown }
  }

  for (const [name, one] of Object.entries(cases)) {
    test(name, async () => {
      const before = await outcomeOf(one, { pipeline: false })
      expect(await outcomeOf(one, {})).toEqual(before)
    })
  }
}
