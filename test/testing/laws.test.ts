import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openGround, type Ground } from '../../src/conformance/ground.ts'
import { laws } from '../../src/conformance/laws.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import { lawTimeoutMs } from '../conformance/describe-laws.ts'
import { memorySubject } from './subject.ts'

/** What there is no such thing as in memory. Every other law holds. */
const excused: Readonly<Record<string, string>> = {
  R11: 'not-promised',
  N4: 'not-promised',
  K1: 'refused',
  K2: 'refused',
  K3: 'refused',
  B1: 'refused',
  B2: 'refused',
  B3: 'refused',
  B4: 'refused',
  B5: 'refused',
  B6: 'refused',
  B7: 'refused',
  B8: 'refused',
  B9: 'refused',
  B10: 'refused',
  B11: 'refused',
  B12: 'refused',
  B13: 'refused',
  A25: 'not-promised',
  A26: 'not-promised',
  A27: 'not-promised',
  L5: 'not-promised',
  U4: 'not-promised',
}

/** Mistakes that cannot be made here: no connection has settings, and no statement says what time it is. */
const withoutControl: readonly string[] = ['T6', 'L15', 'L16']

describe('the memory of holdfast/testing', () => {
  let ground: Ground
  beforeAll(async () => {
    ground = await openGround(memorySubject())
  })
  afterAll(() => ground.close())

  for (const law of laws) {
    const expected = excused[law.id] ?? 'holds'
    test(`${law.id}: ${law.says}`, async () => {
      const { verdict, reason } = await runLaw(ground, law, { timeoutMs: lawTimeoutMs })
      expect(verdict, reason).toBe(expected)
    })

    if (expected !== 'holds' || withoutControl.includes(law.id)) continue
    test(`${law.id} does not hold for who ${law.control.does}`, async () => {
      const { verdict } = await runLaw(ground, law, { sabotage: law.control, timeoutMs: 5_000 })
      expect(verdict).not.toBe('holds')
    })
  }
})
