import { expect, test } from 'vitest'

import { rawInt64Key, rawNameKey } from '../../../src/core/raw-key.ts'
import { createKnownKeys } from '../../../src/locks/named/known-keys.ts'

test('a key is known once, however often it was asked for', () => {
  const known = createKnownKeys()
  for (const key of [
    ['a', 7],
    ['a', 7n],
    ['a', 7],
  ])
    known.remember(key)
  known.remember('a')
  known.remember(['a'])
  expect([...known]).toHaveLength(2)
})

test('keys that are not the same are told apart', () => {
  const known = createKnownKeys()
  const keys = [7, '7', ['7', '8'], '7,8', ['"7"', 8], ['7', 8], 'name 5', rawNameKey('5'), rawInt64Key(5n)]
  for (const key of keys) known.remember(key)
  expect([...known]).toEqual(keys)
})

test('of too many keys the older ones are forgotten, and never the newer half', () => {
  const known = createKnownKeys(4)
  const left = 'abcdefg'.split('').map((key) => {
    known.remember(key)
    return [...known]
  })
  expect(left).toEqual(['a', 'ab', 'abc', 'cd', 'cde', 'ef', 'efg'].map((keys) => keys.split('')))
})
