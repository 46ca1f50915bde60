import fc from 'fast-check'
import { Kysely, type KyselyPlugin } from 'kysely'
import { describe, expect, test } from 'vitest'

import { lockPlugin } from '../../src/adapters/kysely/plugin.ts'
import { LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import { build, type AskedFor, type Built, type ManyTables } from './build-random.ts'
import { plansOf, servers, type TestServer } from './compile.ts'
import { randomStatement } from './random-query.ts'

const kyselysOwnWords = /for (no key )?update|for (key )?share|skip locked|nowait/

describe('a statement made up by chance never loses a lock', () => {
  test.each(servers)('on $dialect $version', (server) => {
    let accepted = 0
    const property = fc.property(randomStatement, (statement) => {
      let plans = 0
      const plugin = lockPlugin({ planFor: plansOf(server), requireTransaction: () => void (plans += 1) })
      const text = compile(() => build(statement, kyselyOf(server, [plugin])))
      const plain = build(statement, kyselyOf(server))
      if (text === undefined || plain === undefined) return
      expect(text).not.toMatch(kyselysOwnWords)
      expect(plans).toBe(plain.asked.length)
      if (plain.asked.length === 0) expect(text).toBe(plain.query.compile().sql)
      else accepted += 1
      expectLockWords(text, plain.asked, server)
    })
    fc.assert(property, { numRuns: 800, seed: 20 })
    expect(accepted).toBeGreaterThan(100)
  })
})

function kyselyOf({ kysely }: TestServer, plugins: KyselyPlugin[] = []): Kysely<ManyTables> {
  return new Kysely<ManyTables>({ dialect: kysely, plugins })
}

/** The text, or undefined when the statement was refused in the way that a caller is promised. */
function compile(make: () => Built | undefined): string | undefined {
  try {
    return make()?.query.compile().sql
  } catch (error) {
    if (error instanceof LockUsageError || error instanceof UnsupportedLockError) return undefined
    throw error
  }
}

function expectLockWords(text: string, asked: readonly AskedFor[], { lockWords }: TestServer): void {
  if (lockWords === undefined) return
  const count = (words: RegExp): number => [...text.matchAll(new RegExp(words, 'g'))].length
  const waits = (wait: AskedFor['wait']): number => asked.filter((one) => one.wait === wait).length
  expect(count(lockWords)).toBeGreaterThanOrEqual(asked.length)
  expect(count(/SKIP LOCKED|READPAST/)).toBeGreaterThanOrEqual(waits('skipLocked'))
  expect(count(/NOWAIT/)).toBeGreaterThanOrEqual(waits('noWait'))
}
