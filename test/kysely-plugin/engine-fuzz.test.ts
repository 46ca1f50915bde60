import fc from 'fast-check'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { lockPlugin } from '../../src/adapters/kysely/plugin.ts'
import { classifyError } from '../../src/classify.ts'
import { LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import type { DialectName } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines } from '../engines/use.ts'
import { build, tableCount, type AskedFor, type ManyTables } from './build-random.ts'
import { plansOf } from './compile.ts'
import { randomStatement, type RandomStatement } from './random-query.ts'
import { connectKysely } from './real-kysely.ts'

const nothingLeft = new Error('rolled back by the spec')

describeEngines(
  (context) => {
    let db: Kysely<ManyTables>
    let observer: EngineSession

    beforeAll(async () => {
      observer = await context.engine.open()
      const names = [...Array.from({ length: tableCount }, (_, index) => `t${index}`), 'sink']
      for (const name of names) {
        await observer.run({
          sql: `CREATE TABLE ${name} (id INTEGER${name === 'sink' ? '' : ' PRIMARY KEY'})`,
          params: [],
        })
        await observer.run({ sql: `INSERT INTO ${name} VALUES (1), (2), (3)`, params: [] })
      }
      const planFor = plansOf({
        dialect: context.name as DialectName,
        version: context.engine.server.version,
      })
      db = connectKysely(context.engine.server, [lockPlugin({ planFor })]) as unknown as Kysely<ManyTables>
    })
    afterAll(async () => {
      await observer.close()
      await db.destroy()
    })

    /** The tables that should have a locked row, and have none; undefined where the statement was refused. */
    const lost = async (statement: RandomStatement): Promise<readonly string[] | undefined> => {
      let found: readonly string[] | undefined
      // at a higher level InnoDB locks what a writing statement reads, with or without a lock
      const attempt = db
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (tx) => {
          const built = build(statement, tx)
          if (built === undefined || built.asked.length === 0) throw nothingLeft
          await built.query.execute()
          found = await unlockedTables(built.asked, observer)
          throw nothingLeft
        })
      await attempt.catch((error: unknown) => {
        if (error !== nothingLeft && !isLoud(error)) throw error
      })
      return found
    }

    test('every table that a statement made up by chance locks has a locked row', async () => {
      let ran = 0
      const property = fc.asyncProperty(randomStatement, async (statement) => {
        const tables = await lost(statement)
        if (tables !== undefined) ran += 1
        expect(tables ?? []).toEqual([])
      })
      await fc.assert(property, { numRuns: 1500, seed: 20 })
      expect(ran).toBeGreaterThan(200)
    }, 600_000)
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)

/** Refused by us, or by the server as a statement that it does not take. */
function isLoud(error: unknown): boolean {
  if (error instanceof LockUsageError || error instanceof UnsupportedLockError) return true
  return error instanceof Error && 'code' in error && classifyError(error).kind === 'other'
}

async function unlockedTables(
  asked: readonly AskedFor[],
  observer: EngineSession,
): Promise<readonly string[]> {
  const unlocked: string[] = []
  for (const table of asked.flatMap(({ tables }) => tables)) {
    const probe = observer.run({ sql: `SELECT id FROM ${table} FOR UPDATE NOWAIT`, params: [] })
    const isFree = await probe.then(
      () => true,
      () => false,
    )
    if (isFree) unlocked.push(table)
  }
  return unlocked
}
