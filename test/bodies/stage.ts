import { Kysely, sql } from 'kysely'
import mysql from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'

import { createLocks as kyselyLocks } from '../../src/entries/kysely.ts'
import { createLocks as mariadbLocks } from '../../src/entries/mariadb.ts'
import { createLocks as mysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import type { SharedLocks } from '../../src/locks.ts'
import { pgPool } from '../adapters/subject.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'
import { contextWith, describeEngines, until, type EngineContext } from '../engines/use.ts'

/** One way into the library, for bodies that send texts. */
export interface Way {
  readonly locks: SharedLocks<unknown>
  readonly run: (tx: unknown, text: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

export interface Subject {
  readonly title: string
  readonly engines: readonly string[]
  readonly connect: (url: string, engine: string) => Way
}

interface Querying {
  query(text: string): Promise<unknown>
}

const run: Way['run'] = (tx, text) => (tx as Querying).query(text)

export const onPg: Subject = {
  title: 'pg',
  engines: ['postgres'],
  connect: (url) => {
    const pool = pgPool(url)
    return { locks: pgLocks(pool) as unknown as SharedLocks<unknown>, run, close: () => pool.end() }
  },
}

export const onMysql2: Subject = {
  title: 'mysql2',
  engines: ['mysql', 'mariadb'],
  connect: (uri) => {
    const pool = mysql.createPool({ uri, connectionLimit: 2 })
    return { locks: mysqlLocks(pool) as unknown as SharedLocks<unknown>, run, close: () => pool.end() }
  },
}

export const onMariadb: Subject = {
  title: 'mariadb',
  engines: ['mysql', 'mariadb'],
  connect: (url) => {
    // some of the texts name two columns alike
    const pool = mariadbPool(url, { checkDuplicate: false })
    return { locks: mariadbLocks(pool) as unknown as SharedLocks<unknown>, run, close: () => pool.end() }
  },
}

export const onKysely: Subject = {
  title: 'kysely',
  engines: ['postgres', 'mysql', 'mariadb', 'sqlite'],
  connect: (url, engine) => {
    const name = engine as ServerName
    const db = new Kysely<unknown>({ dialect: dialects[name](url) })
    return {
      locks: kyselyLocks(db, { dialect: name }) as unknown as SharedLocks<unknown>,
      run: (tx, text) => sql.raw(text).execute(tx as Kysely<unknown>),
      close: () => db.destroy(),
    }
  },
}

/** What the specs of one way have, inside tests and hooks. */
export interface Stage extends EngineContext {
  /** Runs a body. What it gets sends a text on its `tx`. */
  readonly transaction: (
    body: (send: (text: string) => Promise<unknown>, tx: unknown) => Promise<unknown>,
    options?: Parameters<Way['locks']['transaction']>[1],
  ) => Promise<unknown>
  readonly way: Way
  /** The notes that are stored, in the order of their numbers. */
  readonly stored: () => Promise<readonly number[]>
  /**
   * Gives a text that ends the transaction when it is sent on it, with an error: a deadlock where the engine has them.
   * Must be called before the body locks anything but notes.
   */
  readonly ending: (send: (text: string) => Promise<unknown>) => Promise<string>
}

export function describeBodies(
  specs: (stage: Stage) => void,
  { only }: { readonly only: readonly Subject[] },
): void {
  for (const { title, engines, connect } of only) {
    describe(title, () => {
      describeEngines((context) => specs(stageOf(context, connect)), { only: engines })
    })
  }
}

const note = (id: number): string => `insert into note values (${id})`
export { note }

function stageOf(context: EngineContext, connect: Subject['connect']): Stage {
  let way: Way | undefined
  const rivals: (() => Promise<void>)[] = []
  const outside = async <T>(texts: readonly string[], read: (rows: readonly unknown[]) => T): Promise<T> => {
    const session = await context.engine.open()
    let rows: readonly unknown[] = []
    for (const text of texts) rows = await session.run({ sql: text, params: [] })
    await session.close()
    return read(rows)
  }
  const inUse = (): Way => {
    if (way === undefined) throw new Error('there is a way only inside a test or a hook')
    return way
  }
  beforeAll(async () => {
    await outside(
      [
        'create table note (id integer primary key)',
        'create table counter (id integer primary key, n integer not null)',
        `insert into counter values ${Array.from({ length: 30 }, (_, at) => `(${at + 1}, 0)`).join()}`,
      ],
      () => {},
    )
    way = connect(context.engine.server.url, context.name)
    await way.locks.transaction(async () => {}) // asks the server once what it is
  })
  beforeEach(() => outside(['delete from note'], () => {}))
  afterEach(async () => {
    for (const end of rivals.splice(0)) await end()
    await until(async () => (await context.engine.leftovers()).length === 0, 'nothing is left')
  })
  afterAll(() => way?.close())
  return contextWith(context, {
    get way() {
      return inUse()
    },
    transaction: (body, options) =>
      inUse().locks.transaction((tx) => body((text) => inUse().run(tx, text), tx), options),
    stored: () =>
      outside(['select id from note order by id'], (rows) =>
        rows.map((row) => Number((row as { id: unknown }).id)),
      ),
    ending: (send) => endings[context.name]?.({ context, send, rivals }) ?? Promise.reject(new Error()),
  })
}

interface Scene {
  readonly context: EngineContext
  readonly send: (text: string) => Promise<unknown>
  readonly rivals: (() => Promise<void>)[]
}

/** A rival that has changed more, so that the other one is the victim, waits for the row that the transaction holds. */
async function deadlock({ context: { engine }, send, rivals }: Scene): Promise<string> {
  await send('update counter set n = n + 1 where id = 1')
  const rival = await engine.open()
  await rival.begin()
  await rival.run({ sql: 'update counter set n = n + 1 where id > 1', params: [] })
  const waiting = rival.run({ sql: 'update counter set n = n + 0 where id = 1', params: [] }).catch(() => {})
  rivals.push(async () => {
    await waiting
    await rival.rollback()
    await rival.close()
  })
  await until(() => engine.isWaiting(rival), 'the rival waits for the first row')
  return 'update counter set n = n + 1 where id = 2'
}

const endings: Readonly<Record<string, (scene: Scene) => Promise<string>>> = {
  mysql: deadlock,
  mariadb: deadlock,
  postgres: async () => 'select 1 / 0',
  sqlite: async ({ send }) => {
    await send(note(77))
    return 'insert or rollback into note values (77)'
  },
}
