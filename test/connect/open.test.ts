import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { intoDatabase } from '../../src/connect/address.ts'
import { openUrl } from '../../src/connect/open.ts'
import { openScratch } from '../../src/connect/scratch.ts'
import { identify } from '../../src/locks/identify.ts'
import { registry } from '../../src/registry.ts'
import { describeEngines, startPrivate, until, type PrivateServer } from '../engines/use.ts'
import { startStandby } from '../engines/postgres-server.ts'
import type { StartedServer } from '../engines/engine.ts'
import { asUser, makeReader } from './account.ts'
import { allTextOf, refused } from './refused.ts'

const passwords = ['plain', 'p@ss:w/rd', '100% of it', '%40', 'quote\' \\ "ä', '?#&=']
const files = ['sqlite', 'duckdb']

describeEngines((context) => {
  const name = `reader_${Math.random().toString(36).slice(2, 10)}`

  test('an address becomes a pool whose server says what it is', async () => {
    const opened = await openUrl(context.engine.server.url, 3)
    expect(opened.dialects).toContain(context.name)
    expect(opened.title).toMatch(/ through /)
    const candidates = opened.dialects.map((dialect) => registry[dialect])
    const all = await Promise.all([opened.sessions.open(), opened.sessions.open()])
    for (const session of all) {
      const { dialect } = await identify({ dialects: candidates, version: undefined })(session)
      expect(dialect.name).toBe(context.name)
      await session.release()
    }
    await opened.close()
    await opened.close()
    await expect(
      opened.sessions.open().then((session) => session.run(candidates[0]!.identity.ask)),
    ).rejects.toThrow()
  })

  test('a pool can be closed while its sessions are in transactions, and nothing is left on the server', async () => {
    const opened = await openUrl(context.engine.server.url, 3)
    const all = await Promise.all([opened.sessions.open(), opened.sessions.open()])
    for (const session of all) await session.begin()
    await opened.close()
    await until(async () => (await context.engine.leftovers()).length === 0, 'the end of both transactions')
  })

  test.skipIf(files.includes(context.name))('a port where nobody listens is named', async () => {
    const url = new URL(context.engine.server.url)
    url.port = '1'
    expect((await refused('unreachable', openUrl(url.href))).message).toContain(`${url.hostname}:1`)
  })

  test.skipIf([...files, 'mongodb'].includes(context.name))(
    'a database that is not there is named by the server, and the user is not blamed',
    async () => {
      const opening = openUrl(intoDatabase(context.engine.server.url, 'no_such_database'))
      // SQL Server says the same of one that the user may not open
      const error = await refused(context.name === 'mssql' ? 'login' : 'address', opening)
      expect(error.message).toMatch(/\/no_such_database.*: .*no_such_database/)
      if (context.name !== 'mssql') expect(error.message).toMatch(/^cannot use the address /)
    },
  )

  test.runIf(context.name === 'mongodb')(
    'a user whom nobody knows is named, and the password is not',
    async () => {
      const error = await refused(
        'login',
        openUrl(asUser(context.engine.server.url, { name, password: 'p@ss:w/rd' })),
      )
      expect(error.message).toContain(name)
      expect(allTextOf(error)).not.toMatch(/p(@|%40)ss/)
    },
  )

  describe.runIf(['mysql', 'mariadb'].includes(context.name))('a user', () => {
    test.each(passwords)('gets in with the right password, and with no other: %s', async (password) => {
      const remove = await makeReader(context.engine, { name, password })
      try {
        await (await openUrl(asUser(context.engine.server.url, { name, password }))).close()
        await expectRefusedLogin(context.engine.server.url, { name, password: `${password}x` })
      } finally {
        await remove()
      }
    })

    test('who may only read is told what making a database needs', async () => {
      const remove = await makeReader(context.engine, { name, password: 'plain' })
      try {
        const error = await refused(
          'rights',
          openScratch(asUser(context.engine.server.url, { name, password: 'plain' })),
        )
        expect(error.message).toMatch(/GRANT ALL .*useEmpty/)
        expect(error.message).toContain(name)
      } finally {
        await remove()
      }
    })
  })
})

describeEngines(
  () => {
    const name = 'holdfast_reader'
    let server: PrivateServer
    beforeAll(async () => {
      const started = await startPrivate('postgres')
      if ('unavailable' in started) throw new Error(started.unavailable)
      server = started
    })
    afterAll(() => server?.stop())

    test('PostgreSQL lets a user in with the right password only, and shows no other', async () => {
      const { url, folder } = server.server
      const rules = join(String(folder), 'data', 'pg_hba.conf')
      await writeFile(rules, `host all ${name} 127.0.0.1/32 scram-sha-256\n${await readFile(rules, 'utf8')}`)
      const say = async (sql: string): Promise<void> => {
        const opened = await openUrl(url, 1)
        const session = await opened.sessions.open()
        await session.run({ sql, params: [] })
        await session.release()
        await opened.close()
      }
      await say(`create role ${name} login password 'first'`)
      await say('select pg_reload_conf()')
      await until(
        () =>
          openUrl(asUser(url, { name, password: 'wrong' })).then(
            (opened) => opened.close().then(() => false),
            () => true,
          ),
        'the new rules at work',
      )
      for (const password of passwords) {
        await say(`alter role ${name} password '${password.replaceAll("'", "''")}'`)
        await (await openUrl(asUser(url, { name, password }))).close()
        await expectRefusedLogin(url, { name, password: `${password}x` })
      }
      await refused('login', openUrl(url.replace('postgres@', `${name}@`))) // without any password
      const last = passwords.at(-1) ?? ''
      const error = await refused('rights', openScratch(asUser(url, { name, password: last })))
      expect(error.message).toMatch(/permission denied to create database.*CREATEDB.*useEmpty/)
    })
  },
  { only: ['postgres'] },
)

describeEngines(
  () => {
    let standby: StartedServer
    beforeAll(async () => {
      standby = await startStandby()
    })
    afterAll(() => standby?.stop())

    test('a standby can be looked at, and refuses a scratch database in its own words', async () => {
      await (await openUrl(standby.server.url)).close()
      const error = await refused('rights', openScratch(standby.server.url))
      expect(error.message).toMatch(/read-only|recovery/)
    })
  },
  { only: ['postgres'] },
)

async function expectRefusedLogin(url: string, user: { name: string; password: string }): Promise<void> {
  const error = await refused('login', openUrl(asUser(url, user)))
  expect(error.message).toContain(user.name)
  expect(error.message).toContain(new URL(url).host)
  for (const text of [user.password, encodeURIComponent(user.password)])
    expect(allTextOf(error)).not.toContain(text)
}
