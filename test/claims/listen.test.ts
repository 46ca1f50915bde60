import { MongoClient } from 'mongodb'
import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { sessions as mongodbSessions } from '../../src/adapters/mongodb/sessions.ts'
import { sessions as pgSessions } from '../../src/adapters/pg/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import { createClaims } from '../../src/locks/queue/claims.ts'
import { identify } from '../../src/locks/identify.ts'
import { until } from '../engines/use.ts'
import { jobs } from './job-table.ts'
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
      test('is woken by a new job, long before it would have looked', async () => {
        vi.spyOn(Math, 'random').mockReturnValue(0.999) // each pause is as long as it may be
        const connect = drivers[stage.name]
        if (connect === undefined) throw new Error(`no driver for ${stage.name}`)
        const { sessions, close } = await connect(stage.engine.server.url)
        let looks = 0
        const counted = { ...sessions, open: () => ((looks += 1), sessions.open()) }
        const port = {
          sessions: counted,
          server: identify({ dialects: [dialectOf(stage.name)], version: undefined }),
        }
        const { work, announce } = createClaims(port)
        const stop = new AbortController()
        const done: number[] = []
        const working = work(jobs, ({ id }) => void done.push(Number(id)), {
          signal: stop.signal,
          idleMs: 60_000,
        })
        // three of them are not looks; the pause after the ninth look is one of five seconds
        await until(() => looks > 11, 'pauses that have become long')
        await stage.table.add([{ id: 1 }])
        await announce(jobs)
        await until(() => done.length === 1, 'a job that is done', 2500)
        stop.abort()
        expect(await working).toEqual({ done: 1, failed: 0, lost: 0 })
        await close()
      })
    },
    { only: ['postgres', 'mongodb'] },
  )
})
