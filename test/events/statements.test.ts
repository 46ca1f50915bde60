import { AsyncLocalStorage } from 'node:async_hooks'

import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import type { StatementEvent } from '../../src/events/shapes.ts'
import { listenTo } from '../../src/watch/listen.ts'
import { describeEngines } from '../engines/use.ts'

/** The statements that are answered until the end of the test. */
function answered(): StatementEvent[] {
  const events: StatementEvent[] = []
  const stop = listenTo({
    'tracing:holdfast:statement:asyncEnd': (event: StatementEvent) => void events.push(event),
  })
  onTestFinished(stop)
  return events
}

describeEngines(
  (stage) => {
    test.each([false, true])(
      'a statement is told as answered when it is (pipeline: %s)',
      async (pipeline) => {
        const pool = new pg.Pool({ connectionString: stage.engine.server.url, max: 1 })
        onTestFinished(() => pool.end())
        const locks = createLocks(pool, { pipeline })
        const events = answered()
        // several in one text do not travel with BEGIN
        await locks.transaction((tx) => tx.query('select 1; select pg_sleep(0.05)'))
        expect(events.map(({ text }) => text)).toEqual(['select 1; select pg_sleep(0.05)', 'COMMIT'])
        expect(events[0]?.tookMs).toBeGreaterThanOrEqual(49)
      },
    )

    test('and to whoever listens as a part of the calls that have sent it', async () => {
      const pool = new pg.Pool({ connectionString: stage.engine.server.url, max: 1 })
      onTestFinished(() => pool.end())
      const locks = createLocks(pool)
      const request = new AsyncLocalStorage<string>()
      const told: unknown[] = []
      onTestFinished(
        listenTo({
          'tracing:holdfast:statement:asyncEnd': ({ text }: StatementEvent) =>
            void told.push([text, request.getStore()]),
        }),
      )
      for (const who of ['first', 'second']) {
        await request.run(who, () =>
          locks.transaction(async (tx) => {
            await tx.query(`select '${who}'`)
          }),
        )
      }
      expect(told).toEqual([
        [`select 'first'`, 'first'],
        ['COMMIT', 'first'],
        [`select 'second'`, 'second'],
        ['COMMIT', 'second'],
      ])
    })
  },
  { only: ['postgres'] },
)
