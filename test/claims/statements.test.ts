import { reached } from '../../src/core/on-demand.ts'
import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { isSql } from '../../src/core/statement.ts'
import type { ClaimStatements } from '../../src/dialects/claim.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { tsqlParsers } from '../emit/tsql-parsers.ts'
import { claimCases, textOf } from './cases.ts'

/** Versions at which a dialect sends something else than at the one that is assumed. */
const versions: Readonly<Record<DialectName, readonly string[]>> = {
  postgres: ['18', '9.5'],
  mysql: ['8.4', '5.7.44'],
  mariadb: ['10.6', '10.3'],
  sqlite: ['3.45'],
  duckdb: ['1.5'],
  mssql: ['2022'],
  mongodb: ['7.0'],
}

test('every dialect sends what the reviewed file says', async () => {
  const pages = Object.entries(versions).flatMap(([dialect, listed]) =>
    listed.map(async (version) => {
      const cases = await claimCases(registry[dialect as DialectName], version)
      const lines = cases.map(({ title, statement }) => `-- ${title}\n${textOf(statement)}`)
      return `===== ${dialect} ${version}\n${lines.join('\n')}`
    }),
  )
  await expect(`${(await Promise.all(pages)).join('\n\n')}\n`).toMatchFileSnapshot('golden/statements.txt')
})

test('a claim is one round trip where the engine allows it, and three at most', async () => {
  const { shape } = queue({
    table: 'job',
    id: 'id',
    orderBy: 'id',
    claim: { token: 'token', until: 'until' },
    done: 'delete',
  })
  const trips = async (name: DialectName, limit: number): Promise<number> => {
    const { claim, readVersion, versions: known } = registry[name]
    const terms = { token: 't', worker: undefined, limit, visibilityMs: 1 }
    const { take } = await reached(claim)
    return take(shape, terms, readVersion(known.assumed)).steps.length
  }
  for (const name of ['postgres', 'sqlite', 'duckdb', 'mssql'] as const) expect(await trips(name, 10)).toBe(1)
  for (const name of ['mysql', 'mariadb', 'mongodb'] as const) expect(await trips(name, 10)).toBe(3)
  expect(await trips('mongodb', 1)).toBe(1)
})

describe('values', () => {
  const hostile = `x'"\`]; DROP TABLE job; --`
  const risky = queue({
    table: hostile,
    id: `id${hostile}`,
    orderBy: `order${hostile}`,
    where: { [`where${hostile}`]: hostile },
    claim: { token: `token${hostile}`, until: `until${hostile}` },
    done: { set: { [`where${hostile}`]: 'over' } },
  })

  test.each(Object.values(registry))(
    'of $name never stand in the text, and names are quoted',
    async (dialect) => {
      const claim: ClaimStatements = await reached(dialect.claim)
      const version = dialect.readVersion(dialect.versions.assumed)
      const { shape, done } = risky
      const terms = { token: 'the token', worker: undefined, limit: 3, visibilityMs: 1234 }
      const held = { id: 'the id', token: 'the token' }
      const statements = [
        ...claim.take(shape, terms, version).steps.filter((step) => typeof step !== 'function'),
        ...claim.complete(shape, held, done).statements,
        ...claim.release(shape, held, 4321).statements,
        ...claim.unclaim(shape, held).statements,
        claim.tally(shape).statement,
        claim.tallyDead(shape, [{ column: `where${hostile}`, values: ['over'] }]).statement,
      ]
      const texts = statements.filter(isSql).map(({ sql }) => sql)
      expect(texts.length > 0).toBe(dialect.name !== 'mongodb')
      for (const text of texts) {
        for (const value of ['the id', 'the token', '1234', '4321', "'over'"])
          expect(text).not.toContain(value)
        const names = text.matchAll(/"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[(?:[^\]]|\]\])*\]/g)
        const rest = [...names].reduce((left, [name]) => left.replaceAll(name, ''), text)
        expect(rest, 'nothing of a name is outside of its quotes').not.toContain('DROP')
      }
    },
  )

  test('a field of a document that looks like an operator is refused', async () => {
    const { take } = await reached(registry.mongodb.claim)
    const evil = { ...risky.shape, where: [{ column: '$where', values: ['1'] }] }
    const terms = { token: 't', worker: undefined, limit: 1, visibilityMs: 1 }
    expect(() => take(evil, terms, [7, 0, 0])).toThrow(LockUsageError)
  })
})

describe('T-SQL, which no server here runs', async () => {
  const parsers = await tsqlParsers()
  const texts = (await claimCases(registry.mssql, '2022'))
    .map(({ statement }) => statement)
    .filter(isSql)
    .map(({ sql }) => sql)

  test.each([...new Set(texts)])('is accepted by two independent parsers: %s', (text) => {
    const verdicts = parsers.map(({ name, problem }) => ({ name, problem: problem(text) }))
    const accepting = verdicts.filter(({ problem }) => problem === undefined)
    expect(accepting.length, JSON.stringify(verdicts)).toBeGreaterThanOrEqual(2)
  })

  test('claims with the hints that pass over locked rows, whatever the isolation of the database is', () => {
    const take = texts.find((text) => text.includes('OUTPUT'))
    const hints = /WITH \((READPAST[^)]*)\)/.exec(take ?? '')?.[1]?.split(', ')
    expect(hints?.toSorted()).toEqual(['READCOMMITTEDLOCK', 'READPAST', 'ROWLOCK', 'UPDLOCK'])
  })
})
