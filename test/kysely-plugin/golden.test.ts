import { describe, expect, test } from 'vitest'

import { LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import { nestedCases, plainCases, tableCases, type Case } from './cases.ts'
import { lockingKysely, servers, sqlOf, type TestServer } from './compile.ts'
import { shapeCases, sourceCases, wordCases } from './refused-cases.ts'
import { placeCases } from './refused-places.ts'

describe("Kysely's own words about locks", () => {
  test.each(servers)('become what the reviewed file says on $dialect $version', async (server) => {
    const page = [...plainCases, ...tableCases, ...nestedCases].map(
      (one) => `-- ${one.title}\n${outcome(server, one)}`,
    )
    await expect(`${page.join('\n\n')}\n`).toMatchFileSnapshot(
      `golden/${server.dialect}-${server.version}.txt`,
    )
  })

  test('that are refused have reasons that the reviewed file says', async () => {
    const page = [...wordCases, ...shapeCases, ...sourceCases, ...placeCases].map(
      (one) => `-- ${one.title}\n${outcome(servers[0] as TestServer, one)}`,
    )
    await expect(`${page.join('\n\n')}\n`).toMatchFileSnapshot('golden/refused.txt')
  })
})

describe('refuses, whatever the server,', () => {
  const all = [...wordCases, ...shapeCases, ...sourceCases, ...placeCases]
  test.each(all)('$title', ({ field, build }) => {
    for (const server of servers) {
      expect(() => sqlOf(build(lockingKysely(server)))).toThrow(
        expect.objectContaining({ name: 'LockUsageError', field }),
      )
    }
  })
})

function outcome(server: TestServer, { build }: Case): string {
  try {
    return sqlOf(build(lockingKysely(server)))
  } catch (error) {
    if (error instanceof LockUsageError || error instanceof UnsupportedLockError)
      return `refused: ${error.message}`
    throw error
  }
}
