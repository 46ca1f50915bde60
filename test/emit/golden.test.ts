import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import type { ServerKind } from '../../src/emit.ts'
import { explain } from '../../src/explain.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { cases, type Case } from './cases.ts'

/** Versions at which a dialect emits something else than at the one that is assumed. */
const otherVersions: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  postgres: ['9.5'],
  mysql: ['5.7.44'],
  mariadb: ['10.3'],
  mssql: ['2016'],
}

describe.each(Object.keys(registry) as DialectName[])('%s', (dialect) => {
  const versions = [registry[dialect].versions.assumed, ...(otherVersions[dialect] ?? [])]
  test.each(versions)('%s emits what its reviewed file says', async (version) => {
    const page = cases.map((one) => `-- ${one.title}\n${explainCase({ dialect, version }, one)}`).join('\n\n')
    await expect(`${page}\n`).toMatchFileSnapshot(`golden/${dialect}-${version}.txt`)
  })
})

function explainCase(server: ServerKind, { category, request }: Case): string {
  try {
    return explain(server, category, request)
  } catch (error) {
    if (error instanceof LockUsageError) return `refused: ${error.message}`
    throw error
  }
}
