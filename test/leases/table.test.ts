import { expect, test } from 'vitest'

import { deadlineIn } from '../../src/core/deadline.ts'
import { identify } from '../../src/locks/identify.ts'
import { tryAcquire } from '../../src/locks/lease/acquire.ts'
import { createLeaseTable } from '../../src/locks/lease/table.ts'
import { findDialect, type DialectName } from '../../src/registry.ts'
import { until } from '../engines/use.ts'
import { describeLeases, take, type LeaseStage } from './lease-stage.ts'

async function dropTable({ engine }: LeaseStage): Promise<void> {
  const session = await engine.open()
  await session.run({ sql: 'DROP TABLE IF EXISTS _leases', params: [] })
  await session.close()
}

// where a table that is missing is an error
describeLeases(
  (stage) => {
    test('a table that turns out to be missing is made, however long it took to find out', async () => {
      await dropTable(stage)
      const port = {
        sessions: stage.sessions(),
        server: identify({ dialects: [findDialect(stage.name as DialectName)], version: undefined }),
      }
      const tried = await tryAcquire({
        port,
        table: createLeaseTable(port),
        name: stage.fresh(),
        ttlMs: 600_000,
        deadline: deadlineIn(),
        repeatUntil: deadlineIn(0),
        signal: undefined,
        mayRepeat: false,
      })
      expect(tried).toHaveProperty('held')
    })
  },
  ['postgres', 'mysql', 'mariadb', 'sqlite', 'duckdb'],
)

// where the table cannot be made while another makes it
describeLeases(
  (stage) => {
    test('whoever makes the table while another does tries until it is there', async () => {
      await dropTable(stage)
      const rival = await stage.engine.open()
      await rival.begin()
      for (const statement of findDialect(stage.name as DialectName).lease.schema) await rival.run(statement)
      let opened = 0
      const taking = take(stage.process({ onOpen: () => (opened += 1) }), stage.fresh())
      // the first one finds that it is missing
      await until(() => opened > 6, 'more than three tries')
      await rival.rollback()
      await rival.close()
      expect((await taking).fence).toBeGreaterThan(0)
    })
  },
  ['duckdb'],
)
