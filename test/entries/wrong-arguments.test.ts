import Database from 'better-sqlite3'
import { drizzle as onDrizzle } from 'drizzle-orm/node-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import mysqlCallbacks from 'mysql2'
import pg from 'pg'
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'

import { adapterEntries } from '../../scripts/docs/adapter-entries.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as betterSqlite3 } from '../../src/entries/better-sqlite3.ts'
import { createLocks as drizzle } from '../../src/entries/drizzle.ts'
import { createLocks as duckdb } from '../../src/entries/duckdb.ts'
import { createLocks as knex } from '../../src/entries/knex.ts'
import { createLocks as kysely } from '../../src/entries/kysely.ts'
import { createLocks as mikroOrm } from '../../src/entries/mikro-orm.ts'
import { createLocks as mongodb } from '../../src/entries/mongodb.ts'
import { createLocks as mssql } from '../../src/entries/mssql.ts'
import { createLocks as mysql2 } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { createLocks as prisma, lockable } from '../../src/entries/prisma.ts'
import { createLocks as sequelize } from '../../src/entries/sequelize.ts'
import { createLocks as typeorm } from '../../src/entries/typeorm.ts'
import type { Target, Wait } from '../../src/core/request.ts'
import { jobs } from '../claims/job-table.ts'
import { caught, describeEntries, type Stage } from './stage.ts'
import { counterOf } from './subject.ts'

type Create = (...args: unknown[]) => unknown

/** As plain JavaScript calls it. */
const untyped = (create: unknown): Create => create as Create

const ofPg = 'pass a pool, as in createLocks(new pg.Pool({ connectionString }))'
const ofMysql2 = 'pass a pool of mysql2/promise, as in createLocks(createPool({ uri }))'

const creations: readonly (readonly [string, () => unknown, string])[] = [
  ['pg: nothing', () => untyped(pgLocks)(), `pool: is undefined: ${ofPg}`],
  ['pg: an address', () => untyped(pgLocks)('postgres://ada:secret@host/db'), `pool: is a string: ${ofPg}`],
  ['pg: something else', () => untyped(pgLocks)({}), `pool: is a plain object: ${ofPg}`],
  [
    'pg: a client',
    () => untyped(pgLocks)(new pg.Client()),
    `pool: is one client, which cannot run two transactions at once: ${ofPg}`,
  ],
  [
    'pg: a database of Drizzle',
    () => untyped(pgLocks)(onDrizzle(new pg.Pool())),
    `pool: is a database of Drizzle: ${ofPg}, or import createLocks from 'holdfast/drizzle'`,
  ],
  [
    'pg: the function of postgres.js',
    () => untyped(pgLocks)(postgres('postgres://host/db')),
    `pool: is the function of postgres.js: ${ofPg}, or import createLocks from 'holdfast/postgres-js'`,
  ],
  [
    'pg: a promise',
    () => untyped(pgLocks)(Promise.resolve()),
    `pool: is a promise, which is not awaited: ${ofPg}`,
  ],
  [
    'duckdb: a pool of pg',
    () => untyped(duckdb)(new pg.Pool()),
    "instance: is a pool of pg: pass an instance, as in createLocks(await DuckDBInstance.fromCache(file)), or import createLocks from 'holdfast/pg'",
  ],
  [
    'mssql: an instance of Kysely',
    () => untyped(mssql)(new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) })),
    "pool: is an instance of Kysely: pass a connected pool, as in createLocks(await new mssql.ConnectionPool(config).connect()), or import createLocks from 'holdfast/kysely'",
  ],
  ['mysql2: nothing', () => untyped(mysql2)(), `pool: is undefined: ${ofMysql2}`],
  ['mysql2: null', () => untyped(mysql2)(null), `pool: is null: ${ofMysql2}`],
  [
    'mysql2: a pool of callbacks',
    () => untyped(mysql2)(mysqlCallbacks.createPool({})),
    'pool: answers by callbacks: pass pool.promise(), or a pool of mysql2/promise',
  ],
  [
    'better-sqlite3: nothing',
    () => untyped(betterSqlite3)(),
    'source: is undefined: pass a function that opens the database, as in createLocks(() => new Database(file)), or one handle',
  ],
  [
    'better-sqlite3: a file',
    () => untyped(betterSqlite3)('app.db'),
    'source: is a string: pass a function that opens the database, as in createLocks(() => new Database(file)), or one handle',
  ],
  [
    'better-sqlite3: the class',
    () => untyped(betterSqlite3)(Database),
    'source: is the class Database: pass a function that opens the database, as in createLocks(() => new Database(file)), or one handle',
  ],
  [
    'better-sqlite3: a function that gives nothing',
    () =>
      (untyped(betterSqlite3)(() => {}) as Pick<Stage['entry']['locks'], 'transaction'>).transaction(
        async () => {},
      ),
    'what source() gives: is undefined: pass a function that gives a handle',
  ],
  [
    'better-sqlite3: a handle of libsql',
    () => untyped(betterSqlite3)({ prepare: () => {}, pragma: () => {}, syncUntil: () => {} }),
    "source: is a handle of libsql, whose close() does not release the handle's locks: open the file with better-sqlite3",
  ],
  [
    'pg: PGlite',
    () => untyped(pgLocks)({ query: async () => {}, runExclusive: async () => {} }),
    'pool: is PGlite, which has one session, and locks work between sessions: its own transaction() is exclusive until it ends',
  ],
  [
    'duckdb: nothing',
    () => untyped(duckdb)(),
    'instance: is undefined: pass an instance, as in createLocks(await DuckDBInstance.fromCache(file))',
  ],
  [
    'mongodb: nothing',
    () => untyped(mongodb)(),
    'client: is undefined: pass a client, as in createLocks(new MongoClient(url))',
  ],
  [
    'mssql: nothing',
    () => untyped(mssql)(),
    'pool: is undefined: pass a connected pool, as in createLocks(await new mssql.ConnectionPool(config).connect())',
  ],
  [
    'Kysely: nothing',
    () => untyped(kysely)(),
    "dialect: is missing: pass one of postgres, mysql, mariadb, sqlite, mssql, as in createLocks(db, { dialect: 'postgres' })",
  ],
  [
    'Kysely: no instance',
    () => untyped(kysely)(Kysely, { dialect: 'postgres' }),
    'db: is the class Kysely: pass an instance of Kysely, as in createLocks(new Kysely({ dialect }), { dialect: name })',
  ],
  [
    'Sequelize: an address',
    () => untyped(sequelize)('postgres://ada:secret@host/db'),
    'sequelize: is a string: pass an instance of Sequelize, as in createLocks(new Sequelize(url))',
  ],
  [
    'Sequelize: nothing',
    () => untyped(sequelize)(),
    'sequelize: is undefined: pass an instance of Sequelize, as in createLocks(new Sequelize(url))',
  ],
  [
    'Prisma: a client alone',
    () => untyped(prisma)({}),
    'held: is undefined: pass what lockable gives for its adapter, as in createLocks(prisma, held)',
  ],
  [
    'Prisma: no adapter',
    () => untyped(lockable)(),
    'adapter: is undefined: pass a driver adapter, as in lockable(new PrismaPg({ connectionString }))',
  ],
  [
    'Knex: nothing',
    () => untyped(knex)(),
    "knex: is undefined: pass an instance of Knex, as in createLocks(knex({ client: 'pg', connection }))",
  ],
  [
    'TypeORM: nothing',
    () => untyped(typeorm)(),
    'dataSource: is undefined: pass a data source, as in createLocks(await new DataSource(options).initialize())',
  ],
  [
    'MikroORM: an address',
    () => untyped(mikroOrm)('postgres://ada:secret@host/db'),
    'orm: is a string: pass what MikroORM.init() gives',
  ],
  [
    'Drizzle: nothing',
    () => untyped(drizzle)(),
    'db: is undefined: pass a database of drizzle-orm, as in createLocks(drizzle(pool))',
  ],
]

describe('createLocks is given', () => {
  test.each(creations)('%s', async (_, create, sentence) => {
    expect(await messageOf((async () => create())())).toBe(sentence)
  })
})

describe('createLocks of every entry is told', async () => {
  const entries = await adapterEntries()
  const told = (options: unknown): Promise<readonly (readonly [string, string])[]> =>
    Promise.all(
      entries.map(async ({ name, file }) => {
        const { createLocks } = (await import(new URL(`../../${file}`, import.meta.url).href)) as {
          createLocks: Create
        }
        // Prisma's has what lends its adapter in between
        const args = name === 'prisma' ? [{}, {}, options] : [{}, options]
        return [name, await messageOf((async () => createLocks(...args))())] as const
      }),
    )

  test.each([
    [null, 'options: null is not an object: pass one, with any of dialect, version'],
    [5, 'options: 5 is not an object: pass one, with any of dialect, version'],
    ['sqlite', 'options: "sqlite" is not an object: pass one, with any of dialect, version'],
    [[], 'options: a list is not an object: pass one, with any of dialect, version'],
    [{ dialct: 'sqlite' }, 'dialct: is not a field of this request; known: dialect, version'],
    [{ version: 16 }, "version: 16 is not a text, as in '16.4'"],
  ])('%j', async (options, sentence) => {
    const all = await told(options)
    expect(all.length).toBeGreaterThan(15)
    for (const [name, message] of all) expect(message, name).toMatch(sentence)
  })

  test.each([
    [
      'pg',
      () => untyped(pgLocks)(new pg.Pool(), { dialect: 'sqlite' }),
      'sqlite',
      'leave it out, or say postgres',
    ],
    [
      'better-sqlite3',
      () => untyped(betterSqlite3)(() => {}, { dialect: 'mysql' }),
      'mysql',
      'leave it out, or say sqlite',
    ],
  ])('the dialect of another database: %s', (_, create, dialect, rest) => {
    expect(create).toThrow(`dialect: ${dialect} is not what this is connected to: ${rest}`)
  })

  test("the dialect of another database than Kysely's", () => {
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) })
    expect(() => untyped(kysely)(db, { dialect: 'mysql' })).toThrow(
      'dialect: mysql was named, and this instance of Kysely has a PostgresAdapter: pass postgres',
    )
  })
})

const rounded =
  '9007199254740992 is a number that JavaScript cannot hold exactly, so another row may be meant: pass a bigint or a string'

/** What the value of the column is, what the key is. */
const values: readonly (readonly [string, unknown, string])[] = [
  ['a number that stands for several', 2 ** 53, rounded],
  ['one of them in a list', [1, 2 ** 53], rounded],
  ['NaN', Number.NaN, 'NaN equals no row: pass a number'],
  ['undefined', undefined, 'is undefined: pass the value that the column has in the row'],
  ['a list in a list', [[1]], 'is a list where one value belongs: pass a string, a number or a bigint'],
]

describeEntries((stage: Stage) => {
  const target = counterOf(stage.name)
  const [column = ''] = Object.keys(target.key)
  const locksOf = (): Stage['entry']['locks'] => stage.entry.locks
  const sentence = messageOf

  test.each(values)('rows: a key that is %s', async (_, value, reason) => {
    const rows = { ...target, key: { [column]: value } } as Target
    const locks = locksOf()
    expect(await sentence(locks.transaction((tx) => locks.rows(tx, rows)))).toBe(
      `target.key.${column}: ${reason}`,
    )
  })

  test('rows: a list instead of a key', async () => {
    const locks = locksOf()
    const rows = { ...target, key: [1, 2] } as unknown as Target
    expect(await sentence(locks.transaction((tx) => locks.rows(tx, rows)))).toBe(
      'target.key: is a list: pass an object, as in { id: [1, 2] }',
    )
  })

  test('updateVersioned: a key that stands for several', async () => {
    const locks = locksOf()
    const update = { table: 'counter', key: { [column]: 2 ** 53 }, expected: 0, set: { n: 1 } }
    expect(await sentence(locks.transaction((tx) => locks.updateVersioned(tx, update)))).toBe(
      `key.${column}: ${rounded}`,
    )
  })

  // where a dot is a part of most names
  test.skipIf(stage.name === 'mongodb')('rows: a name with a dot', async () => {
    const locks = locksOf()
    const rows = { ...target, table: 'public.counter' }
    expect(await sentence(locks.transaction((tx) => locks.rows(tx, rows)))).toBe(
      `table: "public.counter" would be one name with a dot in it: pass ['public', 'counter'] for a table in a schema, or ['public.counter'] if that is its name`,
    )
  })

  test('rows: what names no rows', async () => {
    const locks = locksOf()
    const rows = (query: unknown, options?: unknown): Promise<string> =>
      sentence(locks.transaction((tx) => locks.rows(tx, query as Target, options as object)))
    expect(await rows({ table: 'counter', key: 1 })).toBe(
      'target.key: 1 names no column: pass an object, as in { id: 1 }',
    )
    expect(await rows(target, 5)).toBe('options: 5 is not an object: pass one')
    // which lock by a key only, and say so
    if (stage.name === 'mongodb' || stage.name === 'duckdb') return
    expect(await rows({ table: 'counter', where: { id: 1 } })).toBe(
      'query: names a table and no rows: pass { table, key }, as in { table: "account", key: { id: 1 } }',
    )
    expect(await rows(undefined)).toBe(
      'query: is none of a SELECT, { sql, params }, { table, key } and a function: pass one of them',
    )
    expect(await rows({ sql: 'SELECT * FROM counter WHERE id = 1', values: [1] })).toBe(
      'query.values: is not a field of a statement: pass { sql, params }',
    )
  })

  test('options that are none', async () => {
    const { acquire, lease, lock, transaction, tryLock, withLock, claim } = locksOf()
    const given = ['nowait', 5, null] as unknown as readonly (object & undefined)[]
    for (const options of given)
      for (const call of [
        () => withLock('none', async () => {}, options),
        () => tryLock('none', async () => {}, options),
        () => transaction(async () => {}, options),
        () => transaction((tx) => lock(tx, 'none', options)),
        () => acquire('none', options),
        () => lease('none', options),
        () => claim(jobs, options),
      ])
        expect(await sentence(call())).toMatch(
          `options: ${JSON.stringify(options)} is not an object: pass one`,
        )
    const signal = new AbortController() as unknown as AbortSignal
    const expected = 'signal: is an AbortController: pass its signal'
    expect(await sentence(withLock('none', async () => {}, { signal }))).toBe(expected)
    expect(await sentence(acquire('none', { signal }))).toBe(expected)
    const timed = { timeoutMs: 100 } as object
    expect(await sentence(withLock('none', async () => {}, timed))).toBe(
      'timeoutMs: belongs to wait: pass wait: { timeoutMs }',
    )
  })

  test.each<[object, string]>([
    [{ backoff: 5 }, 'backoff: 5 is not an object: pass one, with any of baseMs, capMs, factor, random'],
    [
      { backoff: { basems: 1 } },
      'backoff.basems: is not a field of this request; known: baseMs, capMs, factor, random',
    ],
    [{ backoff: { baseMs: '1' } }, 'backoff.baseMs: "1" is not a number from 0 up'],
    [{ backoff: { factor: Number.NaN } }, 'backoff.factor: NaN is not a number from 0 up'],
    [{ backoff: { random: 1 } }, 'backoff.random: 1 is not a function: pass one, as in Math.random'],
    [{ onRetry: 1 }, 'onRetry: 1 is not a function: pass one, as in ({ attempt, kind }) => { ... }'],
    [{ verifyCommit: true }, 'verifyCommit: true is not a function: pass one, as in async () => true'],
    [{ alsoRetry: 'busy' }, `alsoRetry: "busy" is not a list: pass one, as in ['lock-timeout']`],
  ])('options that only count when something went wrong: %j', async (options, expected) => {
    const { transaction, withLock, tryLock, work } = locksOf()
    expect(await sentence(transaction(async () => {}, options))).toBe(expected)
    expect(await sentence(withLock('none', async () => {}, options))).toBe(expected)
    expect(await sentence(tryLock('none', async () => {}, options))).toBe(expected)
    if ('backoff' in options)
      expect(await sentence(work(jobs, async () => {}, options as never))).toBe(expected)
  })

  test('a list of keys that has holes', async () => {
    const { withLocks } = locksOf()
    const holes = (length: number): string[] => Object.assign([], { length })
    for (const keys of [holes(2), holes(1), Object.assign(holes(2), { 0: 'a' })])
      expect(await sentence(withLocks(keys, async () => {}))).toBe(
        `keys[${keys[0] === 'a' ? 1 : 0}]: is missing: pass a key, as in ['order', 7]`,
      )
  })

  test('no queue, no job, no handler', async () => {
    const { claim, complete, work } = locksOf()
    expect(await sentence(claim('job' as never))).toBe(
      'queue: is not a queue: pass what queue({ table, ... }) gives',
    )
    expect(await sentence(complete(jobs, undefined as never))).toBe(
      'job: undefined is not a job: pass one that claim gave, or its { id, token }',
    )
    expect(await sentence(work(jobs, undefined as never))).toBe(
      'handler: undefined is not a function: pass one, as in async (job) => { ... }',
    )
  })

  test('a wait that is a number', async () => {
    const locks = locksOf()
    const options = { wait: 100 as unknown as Exclude<Wait, 'skip'> }
    const expected = 'wait: 100 is a number: pass { timeoutMs: 100 }'
    expect(await sentence(locks.withLock('number', async () => {}, options))).toBe(expected)
    expect(await sentence(locks.acquire('number', options))).toBe(expected)
    expect(await sentence(locks.transaction((tx) => locks.rows(tx, target, options)))).toBe(expected)
  })

  test('no work', async () => {
    const { transaction, withLock, withLocks, tryLock } = locksOf()
    const expected = 'work: undefined is not a function: pass one, as in async (tx) => { ... }'
    for (const call of [
      (work: never) => transaction(work),
      (work: never) => withLock('none', work),
      (work: never) => withLocks(['none'], work),
      (work: never) => tryLock('none', work),
    ])
      expect(await sentence(call(undefined as never))).toBe(expected)
  })
})

async function messageOf(call: Promise<unknown>): Promise<string> {
  const error = await caught(call)
  expect(error).toBeInstanceOf(LockUsageError)
  return (error as Error).message
}
