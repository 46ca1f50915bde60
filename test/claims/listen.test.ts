import { MongoClient } from 'mongodb'
import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { sessions as mongodbSessions } from '../../src/adapters/mongodb/sessions.ts'
import { sessions as pgSessions } from '../../src/adapters/pg/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import { createLocks } from '../../src/entries/pg.ts'
import { createClaims } from '../../src/locks/queue/claims.ts'
import { identify } from '../../src/locks/identify.ts'
import { until } from '../engines/use.ts'
import { jobs, patientJobs } from './job-table.ts'
import { describeQueues } from './stage.ts'
import { dialectOf } from './workshop.ts'

/** Pools with a connection to spare. */
const drivers: Readonly<Record<string, (url: string) => Promise<Listening>>> = {
  postgres: async (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 4 })
    return { sessions: pgSessions(pool), close: () => pool.end() }
  },
  mongodb: async (url) => {
    const client = await new MongoClient(url).connect()
    return { sessions: mongodbSessions(client), close: () => client.close() }
  },
}

interface Listening {
  readonly sessions: Sessions
  readonly close: () => Promise<void>
}

describe('a worker that has nothing to do', () => {
  afterEach(() => vi.restoreAllMocks())

  describeQueues(
    (stage) => {
      const announcing: readonly [string, (queue: typeof jobs) => Promise<void>][] = [
        ['through the same locks', (queue) => stage.shop.claims.announce(queue)],
        [
          'when its transaction commits',
          (queue) => stage.shop.transaction((tx) => stage.shop.claims.announce(queue, { tx })),
        ],
      ]
      test.each(announcing)('is woken by an announcement %s', async (_, announce) => {
        let pauses = 0
        // its first pause takes longer than the test may
        vi.spyOn(Math, 'random').mockImplementation(() => ((pauses += 1), 100_000))
        const patient = patientJobs(30_000)
        const { work } = stage.shop.claims
        const stop = new AbortController()
        const done: number[] = []
        const working = work(patient, ({ id }) => void done.push(Number(id)), {
          signal: stop.signal,
          idleMs: 60_000,
        })
        await until(() => pauses > 0, 'a pause')
        await stage.table.add([{ id: 1 }])
        await announce(patient)
        await until(() => done.length === 1, 'a job that is done')
        stop.abort()
        expect(await working).toEqual({ done: 1, failed: 0, lost: 0, released: 0 })
      })
    },
    { only: ['sqlite', 'duckdb', 'mysql', 'mariadb'] },
  )

  describeQueues(
    (stage) => {
      test('is woken by an announcement when its transaction commits', async () => {
        const pool = new pg.Pool({ connectionString: stage.engine.server.url, max: 4 })
        const heard: string[] = []
        const listener = await pgSessions(pool).listen?.('holdfast.queue.job', () => heard.push('new jobs'))
        const locks = createLocks(pool)
        const undone = locks.transaction(async (tx) => {
          await locks.announce(jobs, { tx })
          throw new Error('undone')
        })
        await expect(undone).rejects.toThrow('undone')
        await locks.transaction(async (tx) => {
          await locks.announce(jobs, { tx })
          await tx.query("SELECT 'before COMMIT'").then(() => heard.push('before COMMIT'))
        })
        await until(() => heard.length > 1, 'a message')
        expect(heard).toEqual(['before COMMIT', 'new jobs'])
        await listener?.()
        await pool.end()
      })
    },
    { only: ['postgres'] },
  )

  describeQueues(
    (stage) => {
      test('is woken by a new job, long before it would have looked', async () => {
        let pauses = 0
        let share = 1000 // its first pause takes longer than the test may
        vi.spyOn(Math, 'random').mockImplementation(() => ((pauses += 1), share))
        const connect = drivers[stage.name]
        if (connect === undefined) throw new Error(`no driver for ${stage.name}`)
        const { sessions, close } = await connect(stage.engine.server.url)
        const server = identify({ dialects: [dialectOf(stage.name)], version: undefined })
        const { work, announce } = createClaims({ sessions, server })
        const stop = new AbortController()
        const done: number[] = []
        const working = work(jobs, ({ id }) => void done.push(Number(id)), {
          signal: stop.signal,
          idleMs: 60_000,
        })
        await until(() => pauses > 0, 'a pause')
        share = 0 // what is heard is looked for after a moment
        await stage.table.add([{ id: 1 }])
        await announce(jobs)
        await until(() => done.length === 1, 'a job that is done')
        stop.abort()
        expect(await working).toEqual({ done: 1, failed: 0, lost: 0, released: 0 })
        await close()
      })
    },
    { only: ['postgres', 'mongodb'] },
  )
})
