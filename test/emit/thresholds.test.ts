import { describe, expect, test } from 'vitest'

import { UnsupportedLockError } from '../../src/core/errors.ts'
import { emit } from '../../src/emit.ts'
import { registry } from '../../src/registry.ts'
import { claimCases, textOf } from '../claims/cases.ts'

/** The last release without SKIP LOCKED, and the first with it. */
const thresholds = [
  { dialect: 'mysql', before: '8.0.0', from: '8.0.1' },
  { dialect: 'mariadb', before: '10.5.29', from: '10.6.0' },
] as const

describe.each(thresholds)('$dialect skips locked rows from $from on', ({ dialect, before, from }) => {
  test('by a lock on rows', () => {
    const plan = emit({ dialect, version: from }, 'skip-locked', { wait: 'skip' })
    expect(plan.query).toMatchObject({ clause: expect.stringMatching(/SKIP LOCKED$/) as string })
    expect(() => emit({ dialect, version: before }, 'skip-locked', { wait: 'skip' })).toThrow(
      UnsupportedLockError,
    )
  })

  test('by a claim', async () => {
    const textAt = async (version: string): Promise<string> =>
      (await claimCases(registry[dialect], version)).map(({ statement }) => textOf(statement)).join('\n')
    expect(await textAt(from)).toContain('SKIP LOCKED')
    expect(await textAt(before)).not.toContain('SKIP LOCKED')
  })
})
