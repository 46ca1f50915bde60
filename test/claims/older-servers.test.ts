import { afterAll, beforeAll, expect, test } from 'vitest'

import { reached } from '../../src/core/on-demand.ts'
import type { ClaimStatements } from '../../src/dialects/claim.ts'
import { openGround, type Ground } from '../../src/conformance/ground.ts'
import { laws } from '../../src/conformance/laws.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import type { Sabotage } from '../../src/conformance/subject.ts'
import { dialectOf } from './workshop.ts'
import { describeEngines } from '../engines/use.ts'
import { subjectOf } from '../conformance/subjects.ts'

/** Claims as they are sent to the oldest server that the dialect speaks to: one without SKIP LOCKED. */
const asOnTheOldest: Sabotage = {
  does: 'claims as on the oldest server',
  dialect: (dialect) => {
    const { claim, readVersion, versions } = dialect
    const oldest = readVersion(versions.oldest)
    const asOld = (statements: ClaimStatements): ClaimStatements => ({
      ...statements,
      take: (queue, terms) => statements.take(queue, terms, oldest),
    })
    return { ...dialect, claim: (use) => claim((statements) => use(asOld(statements))) }
  },
}

describeEngines(
  (context) => {
    let ground: Ground
    beforeAll(async () => {
      ground = await openGround(subjectOf(context.name, 'driver', context.engine.server.url))
    })
    afterAll(() => ground.close())

    test('the oldest server gets no SKIP LOCKED', async () => {
      const { claim, readVersion, versions } = dialectOf(context.name)
      const shape = { table: 'job', id: 'id', order: [], where: [], token: 'token', until: 'until' }
      const terms = { token: 't', worker: undefined, limit: 1, visibilityMs: 1 }
      const { take } = await reached(claim)
      const { steps } = take(shape, terms, readVersion(versions.oldest))
      const texts = steps.map((step) => JSON.stringify(typeof step === 'function' ? step([{ id: 1 }]) : step))
      expect(texts.filter((text) => text.includes('SKIP LOCKED'))).toEqual([])
      expect(texts).toHaveLength(3)
    })

    for (const law of laws.filter(({ id }) => /^C\d/.test(id))) {
      test(`${law.id} holds without SKIP LOCKED: ${law.says}`, async () => {
        const { verdict, reason } = await runLaw(ground, law, { sabotage: asOnTheOldest })
        expect(verdict, reason).toBe('holds')
      })
    }
  },
  { only: ['mysql', 'mariadb'] },
)
