import pg from 'pg'
import { expect, test } from 'vitest'

import { sessions } from '../../src/adapters/pg.ts'
import { createNeeds, type Needs } from '../../src/locks/needs.ts'
import { NoConnectionError } from '../../src/locks/open-session.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

describeEngines(specs, { only: ['postgres'] })

const statements = [{ sql: 'select 1', params: [] }]

function specs(context: EngineContext): void {
  /** The pool's last connection is lent for as long as `work` runs. */
  const withoutConnection = async (work: (needs: Needs) => Promise<void>): Promise<void> => {
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
    const client = await pool.connect()
    const server = (): never => expect.unreachable('nobody asks what the server is')
    await work(createNeeds({ sessions: sessions(pool), server })).finally(() => client.release())
    await pool.end()
  }

  test('what a lock needs is not waited for longer than the lock itself', () =>
    withoutConnection(async (needs) => {
      expect(await caught(needs.make(statements, { patienceMs: 20 }))).toBeInstanceOf(NoConnectionError)
    }))

  test('an abort ends the wait for it, and not that of another who waits for the same', () =>
    withoutConnection(async (needs) => {
      const [aborting, enough] = [new AbortController(), new Error('enough')]
      const first = caught(needs.make(statements, { signal: aborting.signal }))
      const second = caught(needs.make(statements, { patienceMs: 20 }))
      aborting.abort(enough)
      expect(await first).toBe(enough)
      expect(await second).toBeInstanceOf(NoConnectionError)
    }))
}
