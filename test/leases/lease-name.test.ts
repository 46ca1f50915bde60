import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { canonicalKey } from '../../src/core/key.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { rawHashtextKey, rawInt32PairKey, rawInt64Key, rawNameKey } from '../../src/core/raw-key.ts'

describe('the name of a lease', () => {
  test.each([{ key: 'nightly-report' }, { key: ['image-upload', 7] }, { key: 7n }])(
    'is that of the lock of the same key in a space of its own: $key',
    ({ key }) => {
      const name = chosenLeaseName(key)
      expect(name).toMatch(/^hl:/)
      expect(name.slice(3)).toBe(canonicalKey(key).name.slice(3))
      expect(name.length).toBeLessThanOrEqual(64)
    },
  )

  test('does not change from one version to the next', () => {
    expect(chosenLeaseName(['report', 7])).toBe('hl:report.7:i47lccyaxqxdtmjjcvpkldjcqed5xvmn')
  })

  test.each([rawInt64Key(7n), rawInt32PairKey(1, 2), rawHashtextKey('x'), rawNameKey('x')])(
    'is not to be had of a key in an engine’s own form: $raw',
    (key) => {
      expect(() => chosenLeaseName(key)).toThrow(LockUsageError)
      expect(() => chosenLeaseName(key)).toThrow(/use a plain key/)
    },
  )
})
