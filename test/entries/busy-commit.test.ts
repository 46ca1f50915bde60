import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { createLocks } from '../../src/entries/better-sqlite3.ts'
import { until } from '../engines/until.ts'

/** Without WAL a reader holds up a COMMIT, and a waiting COMMIT holds off new readers. */
let folder: string
let handles: Database.Database[]

const open = (): Database.Database => {
  const handle = new Database(join(folder, 'bank.db'), { timeout: 0 })
  handles.push(handle)
  return handle
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-commit-'))
  handles = []
  open().exec(
    'PRAGMA journal_mode = DELETE; CREATE TABLE account (balance INTEGER); INSERT INTO account VALUES (1), (2)',
  )
})

afterEach(async () => {
  for (const handle of handles) handle.close()
  await rm(folder, { recursive: true, force: true })
})

function isBusy(handle: Database.Database): boolean {
  try {
    handle.prepare('SELECT * FROM account').all()
    return false
  } catch (error) {
    return classifyError(error).kind === 'busy'
  }
}

test('a COMMIT that a reader holds up is repeated alone: the work runs once', async () => {
  const [reader, observer] = [open(), open()]
  const reading = reader.prepare('SELECT * FROM account').iterate()
  reading.next()
  let runs = 0
  const locks = createLocks(() => new Database(join(folder, 'bank.db')))
  const committed = locks.transaction(async (tx) => {
    runs += 1
    tx.prepare('UPDATE account SET balance = balance + 10').run()
  })
  await until(() => isBusy(observer), 'the COMMIT is waiting for the reader')
  reading.return?.()
  await committed
  expect(runs).toBe(1)
  expect(observer.prepare('SELECT sum(balance) AS sum FROM account').get()).toEqual({ sum: 23 })
})

test('a signal that aborts while the COMMIT is held up leaves nothing stored and no lock', async () => {
  const [reader, observer] = [open(), open()]
  const reading = reader.prepare('SELECT * FROM account').iterate()
  reading.next()
  const controller = new AbortController()
  const locks = createLocks(() => new Database(join(folder, 'bank.db')))
  const committed = locks.transaction(
    async (tx) => void tx.prepare('UPDATE account SET balance = balance + 10').run(),
    { signal: controller.signal },
  )
  const outcome = committed.then(
    () => 'committed',
    (error: unknown) => error,
  )
  await until(() => isBusy(observer), 'the COMMIT is waiting for the reader')
  const enough = new Error('enough')
  controller.abort(enough)
  expect(await outcome).toBe(enough)
  reading.return?.()
  expect(observer.prepare('SELECT sum(balance) AS sum FROM account').get()).toEqual({ sum: 3 })
})
