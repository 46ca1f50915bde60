import { afterAll, beforeAll, expect, test } from 'vitest'

import { openGround, type Ground } from '../../src/conformance/ground.ts'
import { clockLaws } from '../../src/conformance/laws/lease-clock.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import { describeEngines } from '../engines/use.ts'
import { lawTimeoutMs } from './describe-laws.ts'
import { subjectOf } from './subjects.ts'

describeEngines(
  (context) => {
    let ground: Ground
    beforeAll(async () => {
      ground = await openGround(subjectOf(context.name, 'driver', context.engine.server.url))
    })
    afterAll(() => ground.close())

    test('laws that make the clock wrong leave it right, also when they meet', async () => {
      const { now } = Date
      await Promise.all(clockLaws.map((law) => runLaw(ground, law, { timeoutMs: lawTimeoutMs })))
      const left = Date.now
      Date.now = now
      expect(left).toBe(now)
    })
  },
  { only: ['sqlite'] },
)
