import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { canonicalKey, maxKeyBytes, type KeyPart } from '../../src/core/key.ts'
import { rawHashtextKey, rawInt32PairKey, rawInt64Key, rawNameKey } from '../../src/core/raw-key.ts'
import vectors from './key-vectors.json' with { type: 'json' }

const part = fc.oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.maxSafeInteger(), fc.bigInt())
const tuple = fc.array(part, { minLength: 1, maxLength: 6 })

/** JSON has no bigint: a text such as `7n` under `bigint` stands for one. */
function revive(value: unknown): KeyPart {
  return typeof value === 'object' && value !== null && 'bigint' in value
    ? BigInt(String(value.bigint))
    : (value as KeyPart)
}

describe('a key', () => {
  test.each(vectors)('$title keeps its golden vector', ({ key, text, int64, name }) => {
    const canonical = canonicalKey(Array.isArray(key) ? key.map(revive) : revive(key))
    expect(canonical).toEqual({ text, int64: BigInt(int64), name })
  })

  test('is the same key in every Unicode form of its text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (text) => {
        expect(canonicalKey(text.normalize('NFD'))).toEqual(canonicalKey(text.normalize('NFC')))
      }),
    )
  })

  test('of one part is the key of the tuple with that part', () => {
    expect(canonicalKey('cron')).toEqual(canonicalKey(['cron']))
  })

  test('holds a number and the same bigint for one part, and the text of it for another', () => {
    expect(canonicalKey(7n)).toEqual(canonicalKey(7))
    expect(canonicalKey(-0)).toEqual(canonicalKey(0))
    expect(canonicalKey('7').int64).not.toBe(canonicalKey(7).int64)
  })

  test('differs from every other key, wherever the parts are cut', () => {
    const normal = (parts: readonly KeyPart[]): string =>
      JSON.stringify(
        parts.map((one) =>
          typeof one === 'string' ? ['s', one.normalize('NFC')] : ['i', String(BigInt(one))],
        ),
      )
    fc.assert(
      fc.property(tuple, tuple, (a, b) => {
        expect(canonicalKey(a).text === canonicalKey(b).text).toBe(normal(a) === normal(b))
      }),
      { numRuns: 1000 },
    )
    expect(canonicalKey(['ab', 'c']).name).not.toBe(canonicalKey(['a', 'bc']).name)
    expect(canonicalKey(['a|s1:b']).name).not.toBe(canonicalKey(['a', 'b']).name)
  })

  test('differs from every other key whose parts look like the way in which keys are remembered', () => {
    const letters = fc.string({
      minLength: 1,
      maxLength: 4,
      unit: fc.constantFrom('s', 'n', 'b', ':', '1', '7'),
    })
    const small = fc.oneof(letters, fc.integer({ min: -20, max: 20 }), fc.bigInt({ min: -20n, max: 20n }))
    const parts = fc.array(small, { minLength: 1, maxLength: 3 })
    const meaning = (key: readonly KeyPart[]): string =>
      key.map((one) => (typeof one === 'string' ? JSON.stringify(one) : String(one))).join()
    const seen = new Map<string, string>()
    fc.assert(
      fc.property(parts, (key) => {
        const { text } = canonicalKey(key)
        expect(seen.get(text) ?? meaning(key)).toBe(meaning(key))
        seen.set(text, meaning(key))
      }),
      { numRuns: 5000 },
    )
    expect(canonicalKey(['userb7']).name).not.toBe(canonicalKey(['user', 7n]).name)
    expect(canonicalKey(['a', 12]).name).not.toBe(canonicalKey(['an12']).name)
  })

  test('becomes a number of 64 bits and a name of one case with at most 64 characters', () => {
    fc.assert(
      fc.property(tuple, (parts) => {
        const { int64, name } = canonicalKey(parts)
        expect(BigInt.asIntN(64, int64)).toBe(int64)
        expect(name).toMatch(/^hf:[a-z0-9._-]{1,28}:[a-z2-7]{32}$/)
      }),
    )
  })
})

describe('a key is refused, and the field named, when it', () => {
  test.each([
    ['is an empty text', '', 'key[0]'],
    ['has an empty part', ['user', ''], 'key[1]'],
    ['has no part', [], 'key'],
    ['is a fraction', 1.5, 'key[0]'],
    ['is NaN', Number.NaN, 'key[0]'],
    ['is infinite', Infinity, 'key[0]'],
    ['is a number that JavaScript cannot hold exactly', 2 ** 53, 'key[0]'],
    ['is half of a surrogate pair', '\uD800', 'key[0]'],
    ['is longer than the limit', 'x'.repeat(maxKeyBytes), 'key'],
    ['is a megabyte', 'x'.repeat(1_000_000), 'key'],
    ['is null', null, 'key[0]'],
    ['is undefined', undefined, 'key[0]'],
    ['is a boolean', true, 'key[0]'],
    ['holds an object', ['user', {}], 'key[1]'],
    ['holds a list', ['user', ['a']], 'key[1]'],
  ])('%s', (_, key, field) => {
    expect(() => canonicalKey(key as never)).toThrow(
      expect.objectContaining({ name: 'LockUsageError', field }),
    )
  })
})

describe('a raw key', () => {
  test('takes what the server takes', () => {
    expect(rawInt64Key(-(2n ** 63n))).toEqual({ raw: 'int64', value: -(2n ** 63n) })
    expect(rawInt32PairKey(2 ** 31 - 1, -(2 ** 31))).toEqual({
      raw: 'int32-pair',
      values: [2 ** 31 - 1, -(2 ** 31)],
    })
    expect(rawHashtextKey('user-7')).toEqual({ raw: 'hashtext', text: 'user-7' })
    expect(rawNameKey('nightly')).toEqual({ raw: 'name', name: 'nightly' })
  })

  test.each([
    ['more than 64 bits', () => rawInt64Key(2n ** 63n), 'value'],
    ['an inexact number', () => rawInt64Key(2 ** 60), 'value'],
    ['more than 32 bits', () => rawInt32PairKey(0, 2 ** 31), 'second'],
    ['a fraction', () => rawInt32PairKey(0.5, 0), 'first'],
    ['an empty text', () => rawHashtextKey(''), 'text'],
    ['an empty name', () => rawNameKey(''), 'name'],
  ])('refuses %s', (_, make, field) => {
    expect(make).toThrow(expect.objectContaining({ name: 'LockUsageError', field }))
  })
})
