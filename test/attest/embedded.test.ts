import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import * as duckdbAdapter from '../../src/adapters/duckdb/sessions.ts'
import * as sqliteAdapter from '../../src/adapters/better-sqlite3/sessions.ts'
import { joinLocks } from '../../src/locks.ts'
import { registry } from '../../src/registry.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines } from '../engines/use.ts'
import { findingIn, idsIn, observedIn, type Attestation } from './stage.ts'

let folder = ''
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-attest-'))
})
afterAll(() => rm(folder, { recursive: true }))
const file = (): string => join(folder, `${(files += 1)}.db`)

describe('SQLite', () => {
  /** Handles on one file, each with these settings. */
  const attest = (
    path: string,
    pragmas: readonly string[] = [],
    options: Database.Options = { timeout: 0 },
  ): Promise<Attestation> => {
    const open = (): Database.Database => {
      const database = new Database(path, options)
      for (const pragma of pragmas) database.pragma(pragma)
      return database
    }
    return joinLocks(sqliteAdapter.sessions(open), [registry.sqlite]).attest()
  }
  const wal = (): string => {
    const path = file()
    const database = new Database(path)
    database.pragma('journal_mode = wal')
    database.close()
    return path
  }

  test('a file as it should be has no findings', async () => {
    const attestation = await attest(wal())
    expect(idsIn(attestation)).toEqual([])
    expect(Object.values(observedIn(attestation))).not.toContain('untried')
  })

  test.each([
    ['synchronous = off', 'commit-not-durable', 'warning'],
    ['query_only = on', 'read-only', 'error'],
    ['locking_mode = exclusive', 'locking-mode-exclusive', 'error'],
  ])('%s is found, and only that', async (pragma, id, severity) => {
    const attestation = await attest(wal(), [pragma])
    expect(idsIn(attestation)).toEqual([id])
    expect(findingIn(attestation, id)).toMatchObject({ severity })
    expect(Object.values(observedIn(attestation))).not.toContain('broken')
  })

  test('a file that is not in WAL mode is found, and its locks work', async () => {
    const attestation = await attest(file())
    expect(idsIn(attestation)).toEqual(['journal-not-wal'])
    expect(findingIn(attestation, 'journal-not-wal')?.title).toContain('journal_mode = delete')
    expect(observedIn(attestation)).toMatchObject({ 'row-exclusive': 'holds', lease: 'holds' })
  })

  test("the application's own busy_timeout is found, though statements of Holdfast never see it", async () => {
    const attestation = await attest(wal(), [], { timeout: 1234 })
    expect(findingIn(attestation, 'busy-timeout')).toMatchObject({
      severity: 'warning',
      title: expect.stringContaining('1234 ms'),
    })
  })

  test('a database in memory is found, and nothing can be tried on its one handle', async () => {
    const database = new Database(':memory:', { timeout: 0 })
    const attestation = await joinLocks(sqliteAdapter.sessions(database), [registry.sqlite]).attest()
    expect(idsIn(attestation)).toEqual(['in-memory'])
    expect(observedIn(attestation)).toMatchObject({ lease: 'untried' })
    database.close()
  })
})

describeEngines(onDuckdb, { only: ['duckdb'] })

function onDuckdb(): void {
  const attest = async (path: string, settings: Record<string, string> = {}): Promise<Attestation> => {
    const instance = await (await loadDuckdb()).DuckDBInstance.create(path, settings)
    try {
      return await joinLocks(duckdbAdapter.sessions(instance), [registry.duckdb]).attest()
    } finally {
      instance.closeSync()
    }
  }

  test('a file is told to be for one process, and one in memory that too', async () => {
    const path = file()
    expect(idsIn(await attest(path))).toEqual(['single-process'])
    expect(idsIn(await attest(':memory:'))).toEqual(['in-memory', 'single-process'])
    const readOnly = await attest(path, { access_mode: 'READ_ONLY' })
    expect(readOnly.findings[0]).toMatchObject({ id: 'read-only', severity: 'error' })
    expect(observedIn(readOnly)).toMatchObject({ lease: 'refused', advisory: 'refused' })
  })
}
