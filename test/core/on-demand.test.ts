import { describe, expect, test } from 'vitest'

import { asItIs, madeOf, onDemand } from '../../src/core/on-demand.ts'

/** Code that comes when the test says so. */
function loader(): { readonly load: () => Promise<{ n: number }>; readonly come: () => void; loads: number } {
  const waiting: (() => void)[] = []
  const state = {
    loads: 0,
    load: () =>
      new Promise<{ n: number }>((resolve) => {
        state.loads += 1
        waiting.push(() => resolve({ n: state.loads }))
      }),
    come: () => waiting.splice(0).forEach((resolve) => resolve()),
  }
  return state
}

describe('code that is loaded on demand', () => {
  test('is loaded once, and used in the order of the calls', async () => {
    const code = loader()
    const on = onDemand(code.load)
    const seen: string[] = []
    const call = (name: string) => on(async ({ n }) => void seen.push(`${name} ${n}`))
    const calls = [call('first'), call('second'), call('third')]
    expect(seen).toEqual([])
    code.come()
    await Promise.all(calls)
    expect([seen, code.loads]).toEqual([['first 1', 'second 1', 'third 1'], 1])
  })

  test('is not passed by who calls when it has just come', async () => {
    const code = loader()
    const on = onDemand(code.load)
    const seen: string[] = []
    const first = on(async () => void seen.push('first'))
    code.come()
    // rounds of promises, in which the code comes at some point
    const others: Promise<void>[] = []
    for (let round = 0; round < 10; round += 1) {
      others.push(on(async () => void seen.push(`other ${round}`)))
      await Promise.resolve()
    }
    await Promise.all([first, ...others])
    expect(seen).toEqual(['first', ...others.map((_, round) => `other ${round}`)])
  })

  test('is used at once when it is there', async () => {
    const on = onDemand(async () => ({ n: 1 }))
    await on(async () => {})
    let isCalled = false
    const call = on(async () => void (isCalled = true))
    expect(isCalled).toBe(true)
    await call
  })

  test('need not be loaded when somebody has it', async () => {
    const code = loader()
    const on = onDemand(code.load)
    on.keep({ n: 7 })
    expect([await on(async ({ n }) => n), code.loads]).toEqual([7, 0])
  })

  test('is loaded again after that has failed', async () => {
    let tries = 0
    const on = onDemand(async () => {
      tries += 1
      if (tries === 1) throw new Error('the disk is busy')
      return { n: tries }
    })
    await expect(on(async ({ n }) => n)).rejects.toThrow('the disk is busy')
    expect(await on(async ({ n }) => n)).toBe(2)
  })

  test('makes one thing for each that makes something of it', async () => {
    const on = onDemand(async () => ({ n: 1 }))
    const [reach, other] = [madeOf(on, () => ({ own: true })), madeOf(on, () => ({ own: true }))]
    const ofFirst = await Promise.all([reach(async (made) => made), reach(async (made) => made)])
    expect(ofFirst[0]).toBe(ofFirst[1])
    expect(await other(async (made) => made)).not.toBe(ofFirst[0])
  })
})

describe('what a caller has passed', () => {
  test('is copied: lists and plain objects', () => {
    const key = ['report', 7]
    const options = { wait: { timeoutMs: 50 }, key }
    const copy = asItIs(options)
    options.wait.timeoutMs = 1
    key.push('changed')
    expect(copy).toEqual({ wait: { timeoutMs: 50 }, key: ['report', 7] })
  })

  test('keeps what is of a class, what is no object, and what leads to itself', () => {
    const { signal } = new AbortController()
    const date = new Date()
    const work = (): void => {}
    const round: Record<string, unknown> = {}
    round.self = round
    const given = { signal, date, work, bytes: new Uint8Array(2), round, none: null, not: undefined }
    const copy = asItIs(given)
    expect([copy.signal, copy.date, copy.work, copy.bytes]).toEqual([signal, date, work, given.bytes])
    expect(copy.signal).toBe(signal)
    expect(copy.bytes).toBe(given.bytes)
    expect(Object.keys(copy)).toEqual(Object.keys(given))
    expect([asItIs(undefined), asItIs(null), asItIs('text')]).toEqual([undefined, null, 'text'])
  })
})
