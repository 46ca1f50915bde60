import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

/** A cursor as `pg-cursor` has them: until it is closed, `pg` keeps everything behind it back. */
class OpenCursor {
  readonly rows: unknown[] = []

  submit(connection: {
    parse: (query: object) => void
    bind: (config: object) => void
    execute: (config: object) => void
    flush: () => void
  }): void {
    connection.parse({ text: 'select generate_series(1, 1000)' })
    connection.bind({})
    connection.execute({ rows: 1 })
    connection.flush()
  }

  handleDataRow(row: unknown): void {
    this.rows.push(row)
  }

  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {}
  handleError(): void {}
}

describeEngines(
  (context) => {
    let pool: pg.Pool
    beforeAll(() => {
      pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
    })
    afterAll(() => pool.end())

    test('a rollback behind a cursor that was left open ends, and so does its connection', async () => {
      const mistake = new Error('a mistake of the application')
      const locks = createLocks(pool)
      const failing = locks.transaction(async (tx) => {
        await tx.query('select 1')
        tx.query(new OpenCursor() as unknown as pg.Submittable)
        throw mistake
      })
      expect(await caught(failing)).toBe(mistake)
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    })
  },
  { only: ['postgres'] },
)
