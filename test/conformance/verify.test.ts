import { expect, test } from 'vitest'

import { unlocked } from '../../src/conformance/controls.ts'
import { defineLaw, type Law } from '../../src/conformance/law.ts'
import { session } from '../../src/conformance/session-steps.ts'
import { verify } from '../../src/conformance/verify.ts'
import { describeEngines } from '../engines/use.ts'
import { subjectOf } from './subjects.ts'

const a = session('a')

/** A law that is broken in one of its runs only. */
function brokenInRun(bad: number): Law {
  let run = 0
  return defineLaw({
    id: 'X1',
    says: 'A row is as it was written.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    schedule: () => {
      run += 1
      return [a.begin(), a.read(1).sees(run === bad ? 11 : 10), a.commit()]
    },
    control: unlocked,
  })
}

describeEngines(
  (context) => {
    test.each([1, 2, 3])('a law that is broken in run %i of three is broken', async (bad) => {
      const subject = subjectOf(context.name, 'driver', context.engine.server.url)
      const { subjects } = await verify([subject], { laws: [brokenInRun(bad)], repeat: 3 })
      expect(subjects[0]?.results).toMatchObject([{ verdict: 'broken', runs: bad }])
    })
  },
  { only: ['sqlite'] },
)
