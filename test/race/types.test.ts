import { expectTypeOf, test } from 'vitest'

import { explore, type ExploreOptions, type RaceReport, type RaceResults } from '../../src/entries/race.ts'

test('the results have the names of the actors', () => {
  const check = (): unknown =>
    explore({
      db: {},
      actors: { a: () => 1, b: async () => 'two' },
      invariant: (results) => {
        expectTypeOf(results).toEqualTypeOf<RaceResults<'a' | 'b'>>()
        // @ts-expect-error there is no such actor
        return results.c
      },
    })
  // @ts-expect-error there is no such actor
  const stranger = (): unknown => explore({ db: {}, actors: { a: () => 1, b: () => 2 }, mayFail: ['c'] })
  expectTypeOf(stranger).returns.toEqualTypeOf<unknown>()
  expectTypeOf(check).returns.toEqualTypeOf<unknown>()
  expectTypeOf(explore<'a' | 'b'>).returns.toEqualTypeOf<Promise<RaceReport>>()
  // @ts-expect-error an actor is a function
  const wrong: ExploreOptions = { db: {}, actors: { a: 1, b: () => 2 } }
  expectTypeOf(wrong).toEqualTypeOf<ExploreOptions>()
})
