import { createRequire } from 'node:module'

import mssql from 'mssql'
import { expect, test, vi } from 'vitest'

/*
 * The lowest version of mssql that package.json allows, in what the adapter's tests ask of the highest one: there is no
 * server here for either.
 */

vi.mock('mssql', async () => ({ default: await lowest() }))

/** Its types are a package of their own, which knows one name. */
async function lowest(): Promise<typeof mssql> {
  const require = createRequire(import.meta.url)
  return require('mssql-12.0') as typeof mssql
}

test('what is tested here is the lowest version', async () => {
  expect(mssql).toBe(await lowest())
  expect(mssql).not.toBe(createRequire(import.meta.url)('mssql'))
})

await import('../adapters/mssql.test.ts')
await import('../errors/mssql.test.ts')
