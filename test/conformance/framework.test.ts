import { describe, expect, test } from 'vitest'

import { cellsOf } from '../../src/conformance/cells.ts'
import { unlocked } from '../../src/conformance/controls.ts'
import type { Facts } from '../../src/conformance/facts.ts'
import { interleavings, turnsOf } from '../../src/conformance/interleave.ts'
import { defineLaw } from '../../src/conformance/law.ts'
import { laws } from '../../src/conformance/laws.ts'
import { seededRandom } from '../../src/conformance/random.ts'
import type { LawResult, Verdict } from '../../src/conformance/report.ts'
import { startScript } from '../../src/conformance/script.ts'
import { session } from '../../src/conformance/session-steps.ts'
import { createTracer, describeValue } from '../../src/conformance/trace.ts'
import { native, unsupported } from '../../src/core/support.ts'
import { registry } from '../../src/registry.ts'

const a = session('a')

describe('the orders of a race', () => {
  test('are all there are, each once, and keep the order of each session', () => {
    const orders = interleavings({ a: 3, b: 3 }).map((order) => order.join(''))
    expect(orders).toHaveLength(20)
    expect(new Set(orders).size).toBe(20)
    expect(orders.every((order) => order.replaceAll('a', '') === 'bbb')).toBe(true)
    expect(interleavings({ a: 1, b: 1, c: 1 })).toHaveLength(6)
  })

  test('count a transaction from what is first done in it', () => {
    const turns = turnsOf([a.begin(), a.lockRow(1), a.commit()])
    expect(turns.map((turn) => turn.length)).toEqual([2, 1])
  })
})

describe('a transaction that is told what to do', () => {
  test('does again what it was told when it is repeated, and tells each result once', async () => {
    const done: string[] = []
    const script = startScript<string>(
      async (work) => {
        await work({}).catch(() => {})
        await work({})
      },
      async (_, action) => {
        done.push(action)
        if (action === 'two' && done.length < 3) throw new Error('lost')
        return action.length
      },
    )
    expect(await script.tell('one')).toBe(3)
    expect(await script.tell('two')).toBe(3)
    await script.commit()
    expect(done).toEqual(['one', 'two', 'one', 'two'])
  })

  test('fails every action that is left when it fails, but not one whose error is caught', async () => {
    const mistake = new Error('mistake')
    const script = startScript<string>(
      (work) => work({}),
      async (_, action) => {
        if (action !== 'well') throw mistake
      },
    )
    await expect(script.tell('caught', true)).rejects.toBe(mistake)
    await script.tell('well')
    await expect(script.tell('fatal')).rejects.toBe(mistake)
    await expect(script.tell('late')).rejects.toBe(mistake)
    await expect(script.commit()).rejects.toBe(mistake)
  })
})

describe('the matrix', () => {
  const facts = {
    dialect: registry.postgres,
    support: (category: string) => (category === 'table' ? unsupported('why', 'what') : native('row')),
  } as unknown as Facts
  const result = (feature: LawResult['features'][number], verdict: Verdict): LawResult => ({
    id: 'X1',
    says: 'A promise.',
    features: [feature],
    verdict,
    reason: 'a reason',
    tookMs: 1,
    runs: 1,
    trace: [],
  })
  const stateOf = (feature: LawResult['features'][number], ...verdicts: readonly Verdict[]): string =>
    cellsOf(
      facts,
      verdicts.map((verdict) => result(feature, verdict)),
    ).find((cell) => cell.feature === feature)?.state ?? 'none'

  test.each([
    ['what is declared, when laws hold', 'nowait', ['holds', 'not-promised'], 'native'],
    ['broken, when one law is', 'nowait', ['holds', 'broken', 'refused'], 'broken'],
    ['broken, also where it should be refused', 'table', ['broken'], 'broken'],
    ['refused, when no law holds', 'advisory-session', ['refused', 'not-promised'], 'refused'],
    ['what is declared, when only some levels are refused', 'advisory', ['refused', 'holds'], 'native'],
    ['unsupported, when it is declared so', 'table', ['holds'], 'unsupported'],
    ['untested, when no law spoke', 'nowait', [], 'untested'],
  ] as const)('says %s', (_, feature, verdicts, state) => {
    expect(stateOf(feature, ...verdicts)).toBe(state)
  })
})

describe('laws', () => {
  test('have ids of their own, a sentence, and a control', () => {
    expect(new Set(laws.map(({ id }) => id)).size).toBe(laws.length)
    for (const { id, says, control } of laws) {
      expect(says, id).toMatch(/^[A-Z].*\.$/s)
      expect(control.does, id).not.toBe('')
    }
  })

  test.each([
    ['no id', { id: '1' }],
    ['a feature that is none', { features: ['rows'] }],
  ])('with %s are refused', (_, wrong) => {
    const law = { id: 'X1', says: 'A promise.', features: ['nowait'], schedule: [], control: unlocked }
    expect(() => defineLaw({ ...law, ...wrong } as never)).toThrow(TypeError)
  })
})

test('the same seed makes the same choices', () => {
  const draw = (seed: number): readonly number[] => Array.from({ length: 5 }, seededRandom(seed))
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
  expect(draw(7).every((n) => n >= 0 && n < 1)).toBe(true)
})

test('a timeline tells who waited, and shows nothing of an object, which may hold a password', async () => {
  const tracer = createTracer()
  const held = Promise.resolve({ password: 'hidden' })
  tracer.watch('a', 'lock row 1', held).waits()
  await held
  await Promise.resolve()
  expect(tracer.events()).toMatchObject([{ actor: 'a', outcome: 'waits', detail: 'an object' }])
  expect(describeValue([1, 'x', undefined])).toBe('[1, x, nothing]')
  expect(describeValue(new Error('first\nsecond'))).toBe('Error: first')
})
