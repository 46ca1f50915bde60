import { expect, test } from 'vitest'

import { unlocked } from '../../src/conformance/controls.ts'
import { defineLaw, type Law } from '../../src/conformance/law.ts'
import { seededRandom } from '../../src/conformance/random.ts'
import { verify } from '../../src/conformance/verify.ts'
import { describeEngines } from '../engines/use.ts'
import { subjectOf } from './subjects.ts'

/** A law that is broken with one seed only, however often it is run. */
function brokenWith(seed: number): Law {
  return defineLaw({
    id: 'X1',
    says: 'No other number is drawn.',
    features: ['row-exclusive'],
    trial: async ({ random, expect: expectThat }) =>
      expectThat(random() !== seededRandom(seed)(), 'the number was drawn'),
    control: unlocked,
  })
}

describeEngines(
  (context) => {
    test.each([1, 2, 3])('a law that is broken in run %i of three is broken', async (bad) => {
      const subject = subjectOf(context.name, 'driver', context.engine.server.url)
      const law = brokenWith(100 + bad - 1)
      const { subjects } = await verify([subject], { laws: [law], repeat: 3, seed: 100 })
      expect(subjects[0]?.results).toMatchObject([{ verdict: 'broken', runs: bad }])
    })
  },
  { only: ['sqlite'] },
)
