import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { calls } from '../../scripts/adapters/calls.ts'
import { openGround, type Ground } from '../../src/conformance/ground.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import { subjectOf } from '../conformance/subjects.ts'
import { describeEngines } from '../engines/use.ts'

describeEngines((context) => {
  describe('a call that has no law', () => {
    let ground: Ground
    beforeAll(async () => {
      ground = await openGround(subjectOf(context.name, 'driver', context.engine.server.url))
    })
    afterAll(() => ground.close())

    test.each(calls)('$id: $says', { timeout: 600_000 }, async (call) => {
      const { verdict, reason } = await runLaw(ground, call, { timeoutMs: 120_000 })
      expect(verdict, reason).toBe('holds')
    })

    test.each(calls)('$id is found wanting where nothing is done', { timeout: 600_000 }, async (call) => {
      const { verdict } = await runLaw(ground, call, { sabotage: call.control, timeoutMs: 120_000 })
      expect(verdict).toBe('broken')
    })
  })
})
