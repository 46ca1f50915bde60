import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { expect, test } from 'vitest'

import { queuesIn } from '../../src/cli/board/queue-option.ts'
import { openSource } from '../../src/cli/board/source.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines } from '../engines/use.ts'

/*
 * What a board sees of the queues of databases that have no server.
 */

const table =
  'CREATE TABLE job (id INTEGER PRIMARY KEY, stored TIMESTAMP, ms BIGINT, token VARCHAR, until BIGINT)'
const rows =
  "INSERT INTO job VALUES (1, '2026-01-01 00:00:00', 1767225600000, NULL, NULL), " +
  "(2, '2025-01-01 00:00:00', 1735689600000, 'x', 99999999999999)"

const makers: Readonly<Record<string, (file: string) => Promise<void>>> = {
  sqlite: async (file) => {
    const db = new Database(file)
    db.exec(table)
    db.exec(rows)
    db.close()
  },
  duckdb: async (file) => {
    const { DuckDBInstance } = await loadDuckdb()
    const instance = await DuckDBInstance.create(file)
    const connection = await instance.connect()
    await connection.run(table)
    await connection.run(rows)
    connection.closeSync()
    instance.closeSync()
  },
}

describeEngines(
  ({ name }) => {
    test('the oldest job that can be claimed is told with its age', () => tellsAge(name))
  },
  { only: ['sqlite', 'duckdb'] },
)

async function tellsAge(name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-board-'))
  try {
    const file = join(folder, `app.${name === 'sqlite' ? 'db' : name}`)
    await makers[name]?.(file)
    const described = {
      table: 'job',
      id: 'id',
      orderBy: 'id',
      claim: { token: 'token', until: 'until' },
      done: 'delete',
    }
    const queues = queuesIn(
      JSON.stringify([
        { ...described, storedAt: 'stored' },
        { ...described, storedAtMs: 'ms' },
      ]),
    )
    const source = await openSource(`${name}:${file}`, { inspect: {}, queues })
    const look = await source.look(new AbortController().signal)
    await source.close()
    const [byDate, byMs] = look.queues
    expect(byDate).toMatchObject({ counts: { ready: 1, claimed: 1 }, hasAge: true })
    expect(byMs).toMatchObject({ counts: { ready: 1, claimed: 1 }, hasAge: true })
    // the one that is claimed is a year older; zones of time are hours apart, and the two ways to tell are not
    const day = 86_400_000
    expect(Math.abs((byMs?.oldestMs ?? 0) - (Date.now() - 1_767_225_600_000))).toBeLessThan(day)
    expect(Math.abs((byDate?.oldestMs ?? 0) - (byMs?.oldestMs ?? 0))).toBeLessThan(day)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
