import { Kysely } from 'kysely'
import mysqlCallbacks from 'mysql2'
import pg from 'pg'
import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as betterSqlite3 } from '../../src/entries/better-sqlite3.ts'
import { createLocks as drizzle } from '../../src/entries/drizzle.ts'
import { createLocks as duckdb } from '../../src/entries/duckdb.ts'
import { createLocks as kysely } from '../../src/entries/kysely.ts'
import { createLocks as mongodb } from '../../src/entries/mongodb.ts'
import { createLocks as mssql } from '../../src/entries/mssql.ts'
import { createLocks as mysql2 } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { createLocks as prisma, lockable } from '../../src/entries/prisma.ts'
import { createLocks as sequelize } from '../../src/entries/sequelize.ts'
import type { Target, Wait } from '../../src/core/request.ts'
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
  ['pg: something else', () => untyped(pgLocks)({}), `pool: is something else: ${ofPg}`],
  [
    'pg: a client',
    () => untyped(pgLocks)(new pg.Client()),
    `pool: is one client, which cannot run two transactions at once: ${ofPg}`,
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
    'db: is something else: pass an instance of Kysely, as in createLocks(new Kysely({ dialect }), { dialect: name })',
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
    'Drizzle: nothing',
    () => untyped(drizzle)(),
    'db: is not a database of drizzle-orm: pass one, as in createLocks(drizzle(pool)); 0.45 is known to work',
  ],
]

describe('createLocks is given', () => {
  test.each(creations)('%s', async (_, create, sentence) => {
    expect(await messageOf((async () => create())())).toBe(sentence)
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
