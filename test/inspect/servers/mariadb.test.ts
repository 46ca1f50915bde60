import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { rawNameKey } from '../../../src/core/raw-key.ts'
import { emit } from '../../../src/emit.ts'
import type { EngineSession, StartedServer } from '../../engines/engine.ts'
import { useExtraServer, type Skip } from '../../engines/extra-server.ts'
import { downloadedMariadb, mariadbData, mariadbSettings } from '../../engines/mariadb-programs.ts'
import { startMysqlServer } from '../../engines/mysql-server.ts'
import { openMysqlSession } from '../../engines/mysql-session.ts'
import { intoDatabase } from '../../engines/own-database.ts'
import { describeEngines } from '../../engines/use.ts'
import { holdsOf, isSeenWaiting, lookerOn, sessionIn, type Looker } from './look.ts'
import { nameLock, sceneOf, sql, type Scene } from './scene.ts'

const takeRow = sql('select n from counter where id = 1 for update')
const wantRow = sql('update counter set n = n + 1 where id = 1')

async function startPlain(): Promise<StartedServer> {
  const programs = await downloadedMariadb()
  const data = await mariadbData(programs)
  return startMysqlServer({
    engine: 'mariadb',
    origin: 'download',
    programs,
    data,
    args: mariadbSettings,
    isMariadb: true,
  })
}

describe('mariadb with the settings it comes with, which keep no list of locks', () => {
  const server = useExtraServer(startPlain)
  const opened: EngineSession[] = []

  async function meet(skip: Skip): Promise<{
    readonly looker: Looker
    readonly a: EngineSession
    readonly b: EngineSession
    readonly c: EngineSession
  }> {
    const { url, version } = server(skip).server
    const first = await openMysqlSession(url)
    await first.run(sql('create database if not exists plain'))
    await first.run(
      sql('create table if not exists plain.counter (id int primary key, n int) engine = innodb'),
    )
    await first.run(sql('insert ignore into plain.counter values (1, 0)'))
    const [self, a, b, c] = await Promise.all(
      [1, 2, 3, 4].map(() => openMysqlSession(intoDatabase(url, 'plain'))),
    )
    if (self === undefined || a === undefined || b === undefined || c === undefined)
      return expect.unreachable()
    opened.push(first, self, a, b, c)
    return { looker: await lookerOn(self, { name: 'mariadb', version }), a, b, c }
  }
  afterAll(() => Promise.all(opened.map((session) => session.close())))

  test('who waits in GET_LOCK is seen with the holder, and both with the key in clear', async ({ skip }) => {
    const { looker, a, b } = await meet(skip)
    const take = nameLock('mariadb', ['image-upload', 7])
    await a.run(take)
    const quiet = await looker.look()
    expect(quiet.sessions).toEqual([])
    expect(quiet.unseen.join('\n')).toContain('user locks that nobody waits for')
    const wait = b.run(take)
    const sight = await looker.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
    expect(sessionIn(sight, b)?.waits).toMatchObject({
      lock: { kind: 'name', key: 'image-upload.7' },
      blockedBy: [a.id],
    })
    expect(sessionIn(sight, b)?.waits?.waitedMs).toBeGreaterThan(0)
    expect(holdsOf(sight, a)).toMatchObject([{ kind: 'name', key: 'image-upload.7' }])
    await a.close()
    await wait
  })

  test.each(['Mein Schloss', "it's", 'schl\\oss', 'schloß', '")]{}^-'])(
    'the name %s in a statement, whatever is in it, harms nothing',
    async (name) => {
      const { looker, a, b } = await meet((reason) => expect.unreachable(reason))
      const key = rawNameKey(name)
      const [take] = emit('mariadb', 'advisory', { key, scope: 'session', wait: 'block' }).beforeBegin
      await a.run(take ?? expect.unreachable())
      const wait = b.run(take ?? expect.unreachable())
      const sight = await looker.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      const isPlain = /^[^'"\\ß]*$/.test(name)
      expect(sessionIn(sight, b)?.waits).toMatchObject({
        lock: { kind: 'name', on: isPlain ? `name ${name}` : 'name in its statement' },
        blockedBy: isPlain ? [a.id] : [],
      })
      await a.close()
      await wait
    },
  )

  test('waits for rows are seen all the same, with holders and tables', async ({ skip }) => {
    const { looker, a, b, c } = await meet(skip)
    await a.begin()
    await a.run(takeRow)
    const idle = await looker.lookUntil((now) => holdsOf(now, a).length > 0, 'the holder')
    expect(sessionIn(idle, a)).toMatchObject({
      state: 'idle-in-transaction',
      holds: [{ kind: 'row', on: 'a row, of which table is not told' }],
    })
    const waits = [b.run(wantRow), c.run(wantRow)]
    const sight = await looker.lookUntil(
      (now) => [b, c].every((one) => (sessionIn(now, one)?.waits?.blockedBy ?? []).includes(a.id)),
      'both waits',
    )
    expect(holdsOf(sight, a)).toMatchObject([{ kind: 'row', on: 'a row of plain.counter (index PRIMARY)' }])
    expect(sessionIn(sight, b)?.waits?.lock.on).toBe('a row of plain.counter (index PRIMARY)')
    // the first of them blocks the second, but with a lock that it does not have yet
    expect([b, c].flatMap((one) => holdsOf(sight, one))).toEqual([])
    await a.rollback()
    await Promise.all(waits)
  })

  test('who looks again and again without a pause sees who blocks whom', async ({ skip }) => {
    const { looker, a, b } = await meet(skip)
    for (let looks = 0; looks < 3; looks++) await looker.look()
    await a.begin()
    await a.run(takeRow)
    const wait = b.run(wantRow)
    let sight = await looker.look()
    while (!isSeenWaiting(sight, b)) sight = await looker.look()
    expect(sessionIn(sight, b)?.waits?.blockedBy).toEqual([a.id])
    await a.rollback()
    await wait
  })

  test('a change of a table is seen to wait, though not for whom', async ({ skip }) => {
    const { looker, a, b } = await meet(skip)
    await a.begin()
    await a.run(sql('select n from counter'))
    const change = b.run(sql('alter table counter comment = "changed"'))
    const sight = await looker.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
    expect(sessionIn(sight, b)?.waits).toMatchObject({ lock: { kind: 'metadata' }, blockedBy: [] })
    await a.rollback()
    await change
  })

  test('with the plugin metadata_lock_info, user locks that nobody waits for are seen too', async ({
    skip,
  }) => {
    const { looker, a, b } = await meet(skip)
    await b.run(sql("install soname 'metadata_lock_info'"))
    await a.run(nameLock('mariadb', 'quiet'))
    const sight = await looker.look()
    expect(holdsOf(sight, a)).toMatchObject([{ kind: 'name', key: 'quiet' }])
    expect(sight.unseen.join('\n')).not.toContain('user locks')
    await b.run(sql("uninstall soname 'metadata_lock_info'"))
    await a.close()
  })
})

describeEngines(
  (context) => {
    let scene: Scene
    beforeAll(async () => {
      scene = await sceneOf(context)
      for (const statement of context.kind.sample.setUp) await scene.self.run(statement)
    })
    afterAll(() => scene.close())

    test('the questions for MySQL 5.7, which is not here, are answered by the same tables of MariaDB', async () => {
      const old = await lookerOn(scene.self, { name: 'mysql', version: '5.7.44' })
      const [a, b] = await Promise.all([scene.open(), scene.open()])
      await a.begin()
      await a.run(takeRow)
      const wait = b.run(wantRow)
      const sight = await old.lookUntil(
        (now) => (sessionIn(now, b)?.waits?.blockedBy ?? []).length > 0,
        'the wait',
      )
      expect(sessionIn(sight, b)?.waits).toMatchObject({
        lock: { kind: 'row', on: `a row of ${scene.table} (index PRIMARY)` },
        blockedBy: [a.id],
      })
      expect(sessionIn(sight, a)?.state).toBe('idle-in-transaction')
      await a.rollback()
      await wait
    })

    test('what one part refuses leaves the others to be seen', async () => {
      const [a, b] = await Promise.all([scene.open(), scene.open()])
      const titles = Object.keys(scene.tools.inspector.questions('database', [10, 11, 0]))
      await a.run(nameLock('mariadb', 'alone'))
      const wait = b.run(nameLock('mariadb', 'alone'))
      for (const title of titles.filter((one) => one !== 'sessions')) {
        const { lookUntil } = await lookerOn(
          scene.self,
          { name: 'mariadb', version: context.server.version },
          { refused: [title] },
        )
        const sight = await lookUntil((now) => isSeenWaiting(now, b), `the wait without ${title}`)
        expect(sessionIn(sight, b)?.waits, title).toMatchObject({ lock: { key: 'alone' }, blockedBy: [a.id] })
      }
      await a.close()
      await wait
    })
  },
  { only: ['mariadb'] },
)
