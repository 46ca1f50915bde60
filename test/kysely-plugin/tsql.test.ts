import type { Kysely } from 'kysely'
import { describe, expect, test } from 'vitest'

import { tsqlParsers } from '../emit/tsql-parsers.ts'
import { nestedCases, plainCases, tableCases, type Case } from './cases.ts'
import { lockingKysely, serverOf, sqlOf } from './compile.ts'
import type { Database } from './database.ts'

const parsers = await tsqlParsers()

const first = (db: Kysely<Database>) => db.selectFrom('account').select('id').top(1).orderBy('id')

/** The queue queries in this dialect's own words. */
const topCases: readonly Case[] = [
  { title: 'the first row', build: (db) => first(db).forUpdate().skipLocked() },
  {
    title: 'the first row of a WITH query',
    build: (db) =>
      db
        .with('t', () => first(db).forUpdate().skipLocked())
        .selectFrom('t')
        .selectAll(),
  },
]

describe("Kysely's T-SQL with the plugin's hints, which no server here runs", () => {
  test.each(statements())('is accepted by two independent parsers: %s', (text) => {
    const verdicts = parsers.map(({ name, problem }) => ({ name, problem: problem(text) }))
    const accepting = verdicts.filter(({ problem }) => problem === undefined)
    expect(accepting.length, JSON.stringify(verdicts)).toBeGreaterThanOrEqual(2)
  })

  test('has its hints behind the alias, where the language wants them', () => {
    const text = sqlOf(lockingKysely(serverOf('mssql')).selectFrom('account as a').selectAll().forUpdate())
    expect(text).toContain('"account" as "a" WITH (')
    const misplaced = text.replace(/ as "a"( WITH \([^)]*\))/, '$1 as "a"')
    expect(parsers.filter(({ problem }) => problem(misplaced) === undefined).length).toBeLessThan(
      parsers.length,
    )
  })
})

/** Without LIMIT, which this language has not: who writes it must write TOP or FETCH. */
function statements(): readonly string[] {
  const db = lockingKysely(serverOf('mssql'))
  const texts = [...plainCases, ...tableCases, ...nestedCases, ...topCases].map(({ build }) =>
    sqlOf(build(db)),
  )
  return [...new Set(texts)].filter((text) => !text.includes(' limit '))
}
