import { describe, expect, test } from 'vitest'

import { merged, type Result } from '../../scripts/versions/results.ts'
import { restsOn } from '../../scripts/versions/rests-on.ts'
import { verifiedOn } from '../../scripts/versions/verified-on.ts'
import { readServer } from '../../src/cli/server-name.ts'

function result(given: Partial<Result> = {}): Result {
  return {
    target: 'postgres-18',
    version: '18.4',
    adapter: 'pg',
    driver: 'pg 8.23.1',
    architecture: 'x64',
    node: '20.20.2',
    on: '2026-11-16',
    held: 113,
    refused: ['A14'],
    notPromised: ['L5', 'U1'],
    broken: [],
    ...given,
  }
}

const kysely = { adapter: 'kysely', driver: 'kysely 0.28.18' }

describe('what is known after a run', () => {
  test('is the new result in the place of the old one', () => {
    const newer = result({ on: '2026-12-01', held: 114 })
    expect(merged([result(), result(kysely)], [newer])).toEqual([newer, result(kysely)])
  })

  test('is also what another machine has found', () => {
    const other = result({ architecture: 'arm64' })
    const newer = result({ on: '2026-12-01' })
    expect(merged([result(), other], [newer])).toEqual([newer, other])
  })

  test('stands in one order, whatever was run first', () => {
    const all = [
      result({ target: 'postgres-13' }),
      result(),
      result(kysely),
      result({ architecture: 'arm64' }),
      result({ target: 'sqlite', adapter: 'better-sqlite3' }),
    ]
    expect(merged([], all.toReversed())).toEqual(all)
  })
})

describe('the table of runs', () => {
  test('has one row for the ways that found the same', () => {
    const [, , ...rows] = verifiedOn([result(), result(kysely)]).split('\n')
    expect(rows[0]).toBe(
      '| PostgreSQL | 18.4 | x64 | pg 8.23.1, kysely 0.28.18 | 2026-11-16 | 113 | 1 | 2 | 0 |',
    )
  })

  test('has rows of their own for ways that found something else, and names what is broken', () => {
    const text = verifiedOn([result(), result({ ...kysely, held: 111, broken: ['R1', 'R2'] })])
    expect(text).toContain('| pg 8.23.1 | 2026-11-16 | 113 | 1 | 2 | 0 |')
    expect(text).toContain('| kysely 0.28.18 | 2026-11-16 | 111 | 1 | 2 | **2**: R1, R2 |')
  })

  test('says what was not run, and what cannot be', () => {
    const text = verifiedOn([result()])
    expect(text).toContain('Not run yet on x64: PostgreSQL 13, PostgreSQL 14, ')
    expect(text).toContain('Nothing has been run on arm64 yet.')
    expect(text).toContain('Not available: there is no build of PostgreSQL 14 for arm64')
  })
})

describe('a column of the matrix rests on', () => {
  const column = (server: string, results: readonly Result[]): string | undefined =>
    restsOn([readServer(server)], results).split('\n')[2]

  test('laws that held on that version', () => {
    expect(column('postgres', [result()])).toBe('| PostgreSQL 18 | the laws, run on 18.4 |')
  })

  test('documentation, and laws that held where the same locks are given', () => {
    const run = [
      result({ target: 'mariadb-10.5', version: '10.5.29' }),
      result({ target: 'mariadb-11.8', version: '11.8.6' }),
    ]
    expect(column('mariadb@10.6', run)).toBe(
      '| MariaDB 10.6 | documentation of 10.6; the laws, run on 11.8.6, which gets the same locks |',
    )
  })

  test('documentation only, where nothing was run or a law is broken', () => {
    expect(column('mssql', [result()])).toBe('| SQL Server 2022 | documentation only |')
    expect(column('postgres', [result(), result({ ...kysely, broken: ['R1'] })])).toBe(
      '| PostgreSQL 18 | documentation only |',
    )
  })
})
