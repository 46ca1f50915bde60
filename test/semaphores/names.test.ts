import fc from 'fast-check'
import { expect, test } from 'vitest'

import { canonicalKey } from '../../src/core/key.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { permitNames, readPermitName } from '../../src/core/permit-name.ts'

test('the names of permits are the same for ever', () => {
  const { door, slot } = permitNames(chosenLeaseName(['mail', 7]))
  const hash = canonicalKey(['mail', 7]).name.slice(-32)
  expect([door, slot(0), slot(999)]).toEqual([
    `hp:door:mail.7:${hash}`,
    `hp:0:mail.7:${hash}`,
    `hp:999:mail.7:${hash}`,
  ])
  const shared = permitNames(chosenLeaseName(['mail', 7]), 'shared')
  expect([shared.door, shared.slot(99)]).toEqual([`hs:door:mail.7:${hash}`, `hs:99:mail.7:${hash}`])
})

test('a name says whose it is', () => {
  const [permits, shared] = (['permit', 'shared'] as const).map((kind) =>
    permitNames(chosenLeaseName(['mail', 7]), kind),
  )
  const read = (name = ''): unknown => readPermitName(name)
  expect(read(permits?.door)).toMatchObject({ kind: 'permit', isDoor: true, part: 'door' })
  expect(read(permits?.slot(3))).toMatchObject({ kind: 'permit', isDoor: false, part: 'permit 3' })
  expect(read(shared?.door)).toMatchObject({ kind: 'shared', isDoor: true, readable: 'mail.7' })
  expect(read(shared?.slot(3))).toMatchObject({ kind: 'shared', isDoor: false, part: 'shared 3' })
})

test('no name is too long for the table, and none is that of a lock, of a lease or of another semaphore', () => {
  const key = fc.array(fc.oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer()), {
    minLength: 1,
  })
  fc.assert(
    fc.property(key, key, fc.constantFrom('permit', 'shared'), (one, other, kind) => {
      const names = permitNames(chosenLeaseName(one), kind)
      const all = [names.door, names.slot(0), names.slot(17), names.slot(999)]
      expect(new Set(all).size).toBe(4)
      for (const name of all) {
        expect(name.length).toBeLessThanOrEqual(64)
        expect(name).not.toMatch(/^h[fl]:/)
        expect(names.includes(name)).toBe(true)
        expect(readPermitName(name)?.hash).toBe(canonicalKey(one).name.slice(-32))
      }
      const isSame = canonicalKey(one).name === canonicalKey(other).name
      expect(names.includes(permitNames(chosenLeaseName(other), kind).slot(0))).toBe(isSame)
      expect(
        names.includes(permitNames(chosenLeaseName(one), kind === 'shared' ? 'permit' : 'shared').door),
      ).toBe(false)
      expect([chosenLeaseName(one), canonicalKey(one).name].map(readPermitName)).toEqual([
        undefined,
        undefined,
      ])
    }),
  )
})
