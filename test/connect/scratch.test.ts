import { readdir } from 'node:fs/promises'
import { dirname, basename } from 'node:path'

import { MongoClient } from 'mongodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { Connected } from '../../src/conformance/subject.ts'
import type { Session } from '../../src/core/session.ts'
import type { Fixture } from '../../src/dialects/tools.ts'
import { intoDatabase } from '../../src/connect/address.ts'
import { intoMongodbDatabase } from '../../src/connect/drivers/mongodb-address.ts'
import { openUrl } from '../../src/connect/open.ts'
import { openScratch, scratchName, type ScratchSubject } from '../../src/connect/scratch.ts'
import { ownTables } from '../../src/dialects/own-tables.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { describeEngines, startPrivate, type EngineContext } from '../engines/use.ts'
import { refused } from './refused.ts'

const files = ['sqlite', 'duckdb']

describeEngines((context) => {
  let fixture: Fixture
  let opened: ScratchSubject[] = []
  beforeEach(async () => {
    fixture = (await registry[context.name as DialectName].tools()).fixture
    opened = []
  })
  afterEach(() => Promise.all(opened.map((one) => one.drop())))
  const scratch = async (options?: { useEmpty: boolean }): Promise<ScratchSubject> => {
    const one = await openScratch(context.engine.server.url, options)
    opened.push(one)
    return one
  }

  test('a scratch database is there until it is dropped, and nothing else has changed', async () => {
    const before = await places(context)
    const one = await scratch()
    const made = basename(one.database)
    expect(made).toSatisfy(isScratch)
    expect((await places(context)).all).toContain(made)
    await writeIn(one, fixture)
    await one.drop()
    await one.drop()
    const after = await places(context)
    // nor a file that goes with it
    expect(after.all.filter((name) => name.startsWith(made.replace(/\.\w+$/, '')))).toEqual([])
    expect(after.others).toEqual(before.others)
    await expect(one.connect(1)).rejects.toThrow('dropped')
  })

  test('it can be dropped under connections that are in transactions', async () => {
    const one = await scratch()
    const { connected, session } = await writeIn(one, fixture)
    const second = await (await one.connect(2)).sessions.open()
    await session.begin()
    await session.run(fixture.add('scratch', 1, 1))
    await second.begin()
    await second.run(fixture.read('scratch', 1))
    await one.drop()
    expect((await places(context)).all).not.toContain(basename(one.database))
    await connected.close()
  })

  test.skipIf(files.includes(context.name))('also under connections that it knows nothing of', async () => {
    const one = await scratch()
    const { session } = await writeIn(one, fixture)
    await session.release()
    const { url } = context.engine.server
    const into = context.name === 'mongodb' ? intoMongodbDatabase : intoDatabase
    const stranger = await openUrl(into(url, one.database))
    const theirs = await stranger.sessions.open()
    await theirs.begin()
    await theirs.run(fixture.add('scratch', 1, 1))
    await one.drop()
    expect((await places(context)).all).not.toContain(basename(one.database))
    await stranger.close()
  })

  test('two are made at once, and neither sees the other', async () => {
    const [one, other] = await Promise.all([scratch(), scratch()])
    await writeIn(one, fixture)
    await writeIn(other, fixture)
    await one.drop()
    const connected = await other.connect(1)
    const session = await connected.sessions.open()
    expect(await session.run(fixture.read('scratch', 1))).toMatchObject([{ n: expect.anything() }])
    await session.release()
  })

  describe('an empty database', () => {
    const leaveEmpty = async (): Promise<void> => {
      const session = await context.engine.open()
      await session.run(fixture.drop('mine')).catch(() => {})
      for (const table of ['_leases', '_once']) await session.run(fixture.drop(table)).catch(() => {})
      await session.close()
    }
    beforeEach(leaveEmpty)
    afterEach(leaveEmpty)

    test('may be used instead, and is empty again afterwards', async () => {
      const one = await scratch({ useEmpty: true })
      const { session } = await writeIn(one, fixture)
      for (const statement of await ownTables(registry[context.name as DialectName]))
        await session.run(statement)
      await session.begin()
      await session.run(fixture.add('scratch', 1, 1))
      await one.drop()
      await (await scratch({ useEmpty: true })).drop() // it would be refused otherwise
    })

    test('is refused when a table is in it, and the table stays', async () => {
      const session = await context.engine.open()
      await session.run(fixture.create('mine'))
      await session.run(fixture.insert('mine', { id: 1, n: 7 }))
      const error = await refused('address', scratch({ useEmpty: true }))
      expect(error.message).toMatch(/not empty.*mine/)
      expect(await session.run(fixture.read('mine', 1))).toMatchObject([{ n: 7 }])
      await session.close()
    })
  })
})

describeEngines(
  (context) => {
    test('the file is of the same journal mode as the one beside it', async () => {
      const { url } = context.engine.server
      const folder = dirname(url)
      const made = async (beside: string): Promise<unknown> => {
        const one = await openScratch(beside)
        const session = await (await one.connect(1)).sessions.open()
        const [row] = await session.run({ sql: 'pragma journal_mode', params: [] })
        await one.drop()
        return row?.journal_mode
      }
      expect(await made(url)).toBe('wal')
      expect(await made(`${folder}/not-there.db`)).toBe('wal')
      const session = await context.engine.open()
      await session.run({ sql: 'vacuum into ?', params: [`${folder}/rollback.db`] })
      await session.close()
      expect(await made(`${folder}/rollback.db`)).toBe('delete')
    })
  },
  { only: ['sqlite'] },
)

describeEngines(
  (context) => {
    test('a server that dies in the middle is told of in bounded time, with the name of what stays', async () => {
      const server = await startPrivate(context.name)
      if ('unavailable' in server) return
      const one = await openScratch(server.server.url)
      const connected = await one.connect(2)
      const session = await connected.sessions.open()
      await session.begin()
      await server.stop()
      const error = await refused('unreachable', one.drop())
      expect(error.message).toMatch(/holdfast_verify_[0-9a-f]{12} at .* could not be removed: cannot reach/)
    })

    test('a server that stands still is given up, and the database can be dropped when it goes on', async () => {
      const server = await startPrivate(context.name)
      if ('unavailable' in server) return
      const one = await openScratch(server.server.url)
      await one.connect(2)
      await server.freeze()
      await refused('unreachable', one.drop())
      await server.thaw()
      await one.drop()
      await server.stop()
    })
  },
  { only: ['postgres', 'mysql', 'mariadb', 'mongodb'] },
)

describeEngines(
  (context) => {
    test('through a pooler that gives a connection for a transaction only, all of it is the same', async () => {
      const pooler = await startPgBouncer(context.engine.server, 'transaction')
      try {
        const before = await places(context)
        const one = await openScratch(pooler.server.url)
        const { fixture } = await registry.postgres.tools()
        const { session } = await writeIn(one, fixture)
        await session.begin()
        await session.run(fixture.add('scratch', 1, 1))
        await one.drop()
        const after = await places(context)
        expect(after.all).not.toContain(one.database)
        expect(after.others).toEqual(before.others)
      } finally {
        await pooler.stop()
      }
    })

    test('a pooler that leads every name into one database is found out before anything is done there', async () => {
      const { server } = context.engine
      const url = server.url.replace('postgres@', `${encodeURIComponent('postgres dbname=postgres')}@`)
      const pooler = await startPgBouncer({ ...server, url }, 'transaction')
      try {
        const error = await refused('rights', openScratch(pooler.server.url))
        expect(error.message).toContain('its address leads into postgres instead')
        const [name] = /holdfast_verify_\w+/.exec(error.message) ?? []
        expect((await places(context)).all).not.toContain(name)
      } finally {
        await pooler.stop()
      }
    })
  },
  { only: ['postgres'] },
)

interface InUse {
  readonly connected: Connected
  readonly session: Session<object>
}

/** Makes a table with a row in it, on a connection that stays open. */
async function writeIn(one: ScratchSubject, fixture: Fixture): Promise<InUse> {
  const connected = await one.connect(2)
  const session = await connected.sessions.open()
  await session.run(fixture.create('scratch'))
  await session.run(fixture.insert('scratch', { id: 1, n: 0 }))
  return { connected, session }
}

interface Places {
  readonly all: readonly string[]
  /** Without what tests make that run at the same time. */
  readonly others: readonly string[]
}

/** The databases of a server, or the files of a folder. */
async function places(context: EngineContext): Promise<Places> {
  const all = (await namesOf(context)).toSorted()
  const own = basename(context.engine.server.url)
  return { all, others: all.filter((name) => name.startsWith(own) || !name.startsWith('holdfast_')) }
}

async function namesOf({ name, engine }: EngineContext): Promise<readonly string[]> {
  const { url } = engine.server
  if (files.includes(name)) {
    const own = basename(url)
    return (await readdir(dirname(url))).filter((file) => file.startsWith(own) || isScratch(file))
  }
  if (name === 'mongodb') {
    const client = await new MongoClient(url).connect()
    const { databases } = await client.db('admin').admin().listDatabases()
    await client.close()
    return databases.map((database) => database.name)
  }
  const list = name === 'postgres' ? 'select datname as name from pg_database' : 'show databases'
  const session = await engine.open()
  const rows = await session.run({ sql: list, params: [] })
  await session.close()
  return rows.map((row) => String(Object.values(row)[0]))
}

function isScratch(name: string): boolean {
  return scratchName.test(name.replace(/\.\w+(-\w+)?$/, ''))
}
