import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import type { EngineSession } from '../../engines/engine.ts'
import { openMysqlSession } from '../../engines/mysql-session.ts'
import { openPostgresSession } from '../../engines/postgres-session.ts'
import { describeEngines } from '../../engines/use.ts'
import { holdsOf, isSeenWaiting, lookerOn, sessionIn } from './look.ts'
import { nameLock, sceneOf, sql, withoutRights, type Scene } from './scene.ts'

const takeRow = sql('select n from counter where id = 1 for update')
const wantRow = sql('update counter set n = n + 1 where id = 1')

describeEngines(
  (context) => {
    let scene: Scene
    let a: EngineSession
    let b: EngineSession
    let c: EngineSession

    beforeAll(async () => {
      const session = await context.engine.open()
      for (const statement of context.kind.sample.setUp) await session.run(statement)
      await session.close()
    })
    beforeEach(async () => {
      scene = await sceneOf(context)
      ;[a, b, c] = await Promise.all([scene.open(), scene.open(), scene.open()])
    })
    afterEach(() => scene.close())

    test('nobody is seen while nobody holds or waits, though they are connected', async () => {
      await b.run(sql('select 1'))
      expect((await scene.look()).sessions).toEqual([])
    })

    test('a wait for a row is seen with its holder, and a second one behind it', async () => {
      await a.begin()
      await a.run(takeRow)
      const first = b.run(wantRow)
      await scene.lookUntil((sight) => isSeenWaiting(sight, b), 'the first wait')
      const second = c.run(wantRow)
      // the copy from which some servers tell who blocks whom may be older than the wait
      const sight = await scene.lookUntil(
        (now) => (sessionIn(now, c)?.waits?.blockedBy ?? []).includes(b.id),
        'the second wait, behind the first',
      )
      expect(sessionIn(sight, a)).toMatchObject({ state: 'idle-in-transaction', user: expect.any(String) })
      expect(sessionIn(sight, a)?.waits).toBeUndefined()
      expect(holdsOf(sight, a).map(({ on }) => on)).toContainEqual(expect.stringContaining(scene.table))
      expect(sessionIn(sight, b)).toMatchObject({
        state: 'waiting',
        statement: wantRow.sql,
        waits: {
          lock: { kind: 'row', on: expect.stringMatching(`^a row of ${scene.table}`) },
          blockedBy: [a.id],
        },
      })
      expect(sessionIn(sight, b)?.waits?.waitedMs).toBeGreaterThan(0)
      expect(sessionIn(sight, c)?.waits?.lock).toMatchObject({ kind: 'row' })
      await a.rollback()
      await Promise.all([first, second])
      await scene.lookUntil(({ sessions }) => sessions.length === 0, 'that nobody holds or waits any more')
    })

    test('a wait for a named lock is seen with its holder, and both with the key in clear', async () => {
      const take = nameLock(scene.name, ['image-upload', 7])
      await a.run(take)
      const wait = b.run(take)
      const sight = await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      expect(sessionIn(sight, a)?.state).toBe('idle')
      expect(holdsOf(sight, a)).toMatchObject([
        { kind: 'name', key: 'image-upload.7', on: expect.stringMatching(/^name /) },
      ])
      expect(sessionIn(sight, b)).toMatchObject({
        state: 'waiting',
        waits: {
          lock: { kind: 'name', key: 'image-upload.7', on: holdsOf(sight, a)[0]?.on },
          blockedBy: [a.id],
        },
      })
      await a.close()
      await wait
    })

    test('a change of a table is seen to wait for whoever uses it', async () => {
      await a.begin()
      await a.run(sql('select n from counter'))
      const change = b.run(sql('alter table counter add column extra int'))
      const sight = await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      expect(holdsOf(sight, a).map(({ on }) => on)).toContain(`table ${scene.table}`)
      expect(sessionIn(sight, b)?.waits).toMatchObject({
        lock: { kind: scene.name === 'postgres' ? 'table' : 'metadata', on: `table ${scene.table}` },
        blockedBy: [a.id],
      })
      const behind = c.run(sql('select n from counter'))
      const queue = await scene.lookUntil((now) => isSeenWaiting(now, c), 'the reader behind the change')
      expect(sessionIn(queue, c)?.waits?.blockedBy).toEqual([b.id])
      await a.rollback()
      await Promise.all([change, behind])
      await b.run(sql('alter table counter drop column extra'))
    })

    test('who takes what is free, over and over, is never seen to wait', async ({ skip }) => {
      if (scene.name === 'mariadb') return skip('a look takes 100 ms there, too long for such a moment')
      const sights: unknown[] = []
      const isOver = (): boolean => sights.length >= 200
      const changes = (async (): Promise<void> => {
        while (!isOver()) await b.run(sql('alter table counter alter column n set default 0'))
      })()
      while (!isOver()) sights.push(sessionIn(await scene.look(), b)?.waits)
      await changes
      expect(sights.filter((waits) => waits !== undefined)).toEqual([])
    })

    test('a transaction that does nothing any more is seen with what it holds, and for how long', async () => {
      await a.begin()
      await a.run(takeRow)
      const sight = await scene.lookUntil((now) => holdsOf(now, a).length > 0, 'the holder')
      expect(sight.sessions.map(({ id }) => id)).toEqual([a.id])
      expect(sessionIn(sight, a)?.state).toBe('idle-in-transaction')
      // the lock on the table's definition is told only where nothing else tells the table
      const kinds = { postgres: ['table'], mysql: ['row'], mariadb: ['row', 'metadata'] }[scene.name]
      expect(holdsOf(sight, a).map(({ kind }) => kind)).toEqual(kinds)
      const age = sessionIn(sight, a)?.transactionMs ?? -1
      await scene.lookUntil((now) => (sessionIn(now, a)?.transactionMs ?? 0) > age, 'that it grows older')
      await a.rollback()
      expect(sessionIn(await scene.look(), a)).toBeUndefined()
    })

    test('the session that looks is not seen, but for those who wait for it', async () => {
      await scene.self.begin()
      await scene.self.run(takeRow)
      await scene.self.run(nameLock(scene.name, 'mine'))
      expect((await scene.look()).sessions).toEqual([])
      const wait = b.run(nameLock(scene.name, 'mine'))
      const sight = await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      expect(sight.sessions.map(({ id }) => id)).toEqual([b.id])
      const [row] = await scene.self.run(scene.tools.inspector.self ?? expect.unreachable())
      expect(sessionIn(sight, b)?.waits?.blockedBy).toEqual([String(row?.id)])
      expect(String(row?.id)).toBe(scene.self.id)
      await scene.self.close()
      await wait
    })

    test('a session that is killed is gone, and whoever waited for it goes on', async () => {
      const kill = scene.tools.inspector.kill ?? expect.unreachable()
      await a.begin()
      await a.run(takeRow)
      const wait = b.run(wantRow)
      await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      await scene.self.run(kill(a.id))
      await wait
      await scene.lookUntil(({ sessions }) => sessions.length === 0, 'that nobody holds or waits any more')
      await expect(a.run(sql('select 1'))).rejects.toThrow()
      for (const id of ['', '0', '1; drop table counter', '-1', '1 or 1', '1.5', 'prepared x']) {
        expect(() => kill(id)).toThrow(/number of a session/)
      }
    })

    test('sessions of another database are seen only by who looks at the whole server', async () => {
      const other = await context.kind.connect(context.server)
      const far = await other.open()
      const take = nameLock(scene.name, `far ${other.server.url.length}`)
      await far.run(take)
      expect(sessionIn(await scene.look('database'), far)).toBeUndefined()
      expect(holdsOf(await scene.look('server'), far)).toMatchObject([{ kind: 'name' }])
      await far.close()
      await other.close()
    })

    test('leases are seen with their keys in clear, by the clock of the server', async () => {
      const { lease } = (await import('../../../src/registry.ts')).registry[scene.name]
      expect((await scene.look()).leases).toEqual([])
      for (const statement of lease.schema) await a.run(statement)
      const hash = 'abcdefghijklmnopqrstuvwxyz234567'
      const claims = [`hl:mail.7:${hash}`, `hf:report:${hash}`, `hl:done:${hash}`]
      for (const name of claims)
        for (const statement of lease.acquire({ name, owner: 'node 1', ttlMs: 60_000 }))
          await a.run(statement)
      for (const statement of lease.release({ name: `hl:done:${hash}`, owner: 'node 1' }, 0))
        await a.run(statement)
      const { leases } = await scene.look()
      expect(leases.map(({ key }) => key).toSorted()).toEqual(['mail.7', 'report'])
      for (const { owner, fence, remainingMs } of leases) {
        expect(owner).toBe('node 1')
        expect(fence).toBeGreaterThan(1_600_000_000_000)
        expect(remainingMs).toBeGreaterThan(30_000)
        expect(remainingMs).toBeLessThanOrEqual(60_000)
      }
      await a.run(sql('drop table _leases'))
    })

    test('who has no rights is told what stays unseen, and nothing fails', async () => {
      const { url, remove } = await withoutRights(scene, context.engine.server.url)
      const guest = await (scene.name === 'postgres' ? openPostgresSession : openMysqlSession)(url)
      const { look } = await lookerOn(guest, { name: scene.name, version: context.server.version })
      await a.begin()
      await a.run(takeRow)
      const wait = b.run(wantRow)
      await scene.lookUntil((now) => isSeenWaiting(now, b), 'the wait')
      const sight = await look()
      expect(sight.unseen.length).toBeGreaterThan(0)
      expect(sight.unseen.join('\n')).toMatch(
        /role is no member of pg_read_all_stats|this user (?:may not read|lacks)/,
      )
      expect(JSON.stringify(sight.sessions)).not.toContain(wantRow.sql)
      await a.rollback()
      await wait
      await guest.close()
      await remove()
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)
