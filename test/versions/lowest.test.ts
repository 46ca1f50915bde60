import { createRequire } from 'node:module'

import { describe, vi } from 'vitest'

import { laws } from '../../src/conformance/laws.ts'
import { mongodb } from '../../src/connect/drivers/mongodb.ts'
import { mysql2 } from '../../src/connect/drivers/mysql2.ts'
import { pg } from '../../src/connect/drivers/pg.ts'
import { postgresJsWay } from '../adapters/postgres-js-way.ts'
import { describeLaws } from '../conformance/describe-laws.ts'
import { mariadbWay } from '../conformance/mariadb-way.ts'
import { subjectOf } from '../conformance/subjects.ts'
import { describeOrmLaws } from '../orms/describe-orm-laws.ts'
import { drizzleWay } from '../orms/drizzle-way.ts'
import { sequelizeWay } from '../orms/sequelize-way.ts'

/** The types of pg are a package of their own, which knows one name. */
const require = createRequire(import.meta.url)

vi.mock('kysely', () => import('kysely-0.28'))
vi.mock('postgres', () => import('postgres-3.4'))
vi.mock('mariadb', () => import('mariadb-3.5'))
vi.mock('sequelize', () => import('sequelize-6.37'))
vi.mock('drizzle-orm', () => import('drizzle-orm-0.45'))
vi.mock('drizzle-orm/better-sqlite3', () => import('drizzle-orm-0.45/better-sqlite3'))
vi.mock('drizzle-orm/mysql-core', () => import('drizzle-orm-0.45/mysql-core'))
vi.mock('drizzle-orm/mysql2', () => import('drizzle-orm-0.45/mysql2'))
vi.mock('drizzle-orm/node-postgres', () => import('drizzle-orm-0.45/node-postgres'))
vi.mock('drizzle-orm/pg-core', () => import('drizzle-orm-0.45/pg-core'))
vi.mock('drizzle-orm/sqlite-core', () => import('drizzle-orm-0.45/sqlite-core'))

/*
 * The lowest versions that package.json allows, whose insides are checked when the locks are created: the first law of
 * every chapter. The highest ones run all of them, elsewhere.
 */
const some = laws.filter(({ id }) => /^[A-Z]1$/.test(id))

describe('the lowest version of', () => {
  for (const way of [drizzleWay, sequelizeWay, postgresJsWay, mariadbWay]) {
    describe(way.name, () => {
      describeOrmLaws(way, some)
    })
  }

  describe('kysely', () => {
    const engines = ['postgres', 'mysql', 'mariadb', 'sqlite']
    const subject = (engine: string, _: string, url: string) => subjectOf(engine, 'kysely', url)
    describeLaws(some, { engines, adaptersOf: () => ['kysely'], subjectOf: subject })
  })

  describe('pg', () => {
    const connect = async (_: string, url: string, size: number) => pg.open(require('pg-8.11'), url, size)
    describeOrmLaws({ name: 'pg', engines: ['postgres'], connect }, some)
  })

  describe('mysql2', () => {
    const connect = async (_: string, url: string, size: number) =>
      mysql2.open(await import('mysql2-3.11/promise'), url, size)
    describeOrmLaws({ name: 'mysql2', engines: ['mysql', 'mariadb'], connect }, some)
  })

  describe('mongodb', () => {
    const subject = (engine: string, _: string, url: string) => ({
      ...subjectOf(engine, 'driver', url),
      connect: async (size: number) => mongodb.open(await import('mongodb-7.0'), url, size),
    })
    describeLaws(some, { engines: ['mongodb'], adaptersOf: () => ['mongodb'], subjectOf: subject })
  })
})
