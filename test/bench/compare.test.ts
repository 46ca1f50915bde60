import { describe, expect, test } from 'vitest'

import { compare, perSecond, quantile, quartiles, together } from '../../bench/compare.ts'
import { spreadOf, tableOf } from '../../bench/figures.ts'

test('contestants take turns, the order rotates, and the warm-up is not counted', async () => {
  const seen: string[] = []
  const contestant = (name: string) => ({
    name,
    round: async (round: number) => {
      seen.push(`${name}${round}`)
      return round < 0 ? 1000 : round + 1
    },
  })
  const { rows, figures } = await compare([contestant('a'), contestant('b')], { rounds: 3 })
  expect(seen).toEqual(['a-1', 'b-1', 'b0', 'a0', 'a1', 'b1', 'b2', 'a2'])
  expect(figures.get('a')).toEqual([1, 2, 3])
  expect(rows).toEqual([
    { name: 'a', median: 2, low: 1.5, high: 2.5 },
    { name: 'b', median: 2, low: 1.5, high: 2.5 },
  ])
})

test('a ratio is of figures of the same round, so that a slow while does not move it', async () => {
  const speeds = [100, 10, 1000]
  const { ratio } = await compare(
    [
      { name: 'fast', round: async (round) => 2 * (speeds[round] ?? 1) },
      { name: 'slow', round: async (round) => speeds[round] ?? 1 },
    ],
    { rounds: 3, warmUp: 0 },
  )
  expect(ratio('fast', 'slow')).toEqual({ reached: 2, low: 2, high: 2 })
  expect(() => ratio('fast', 'nobody')).toThrow('did not take part')
})

test('a comparison that has only some time ends when it is over, with three rounds at least', async () => {
  const roundsIn = async (forMs: number): Promise<{ warm: number; counted: number }> => {
    let warm = 0
    const round = async (number: number): Promise<number> => {
      if (number < 0) warm += 1
      return 1
    }
    const { figures } = await compare([{ name: 'a', round }], { rounds: 7, warmUp: 5, forMs })
    return { warm, counted: figures.get('a')?.length ?? 0 }
  }
  expect(await roundsIn(-1)).toEqual({ warm: 0, counted: 3 })
  expect(await roundsIn(60_000)).toEqual({ warm: 5, counted: 7 })
})

test('other figures are asked for at the end, and what is no figure is refused', async () => {
  let rounds = 0
  const counting = {
    name: 'counting',
    round: async () => {
      rounds += 1
      return 1
    },
    more: () => ({ rounds }),
  }
  const { rows } = await compare([counting], { rounds: 2 })
  expect(rows[0]?.more).toEqual({ rounds: 3 })
  const broken = { name: 'broken', round: async () => Number.NaN }
  await expect(compare([broken], { rounds: 1 })).rejects.toThrow('broken: NaN is not a figure')
  await expect(compare([counting, counting], { rounds: 1 })).rejects.toThrow('one name')
})

describe('quartiles', () => {
  test('are between the figures where none is in the middle', () => {
    expect(quartiles([4, 1, 3, 2])).toEqual({ median: 2.5, low: 1.75, high: 3.25 })
    expect(quartiles([7])).toEqual({ median: 7, low: 7, high: 7 })
    expect(quantile([], 0.5)).toBeNaN()
    expect(quantile([1, 2, 3, 4, 5], 1)).toBe(5)
  })

  test('and those of a claim are figures that were measured', () => {
    expect(spreadOf([5, 1, 3])).toEqual({ medianMs: 3, p95Ms: 5 })
    expect(
      tableOf([
        ['a', 'bb'],
        ['ccc', ''],
      ]),
    ).toEqual(['a    bb', 'ccc'])
  })
})

test('workers share the operations, each is done once, and all have ended before one is heard of', async () => {
  const done: number[] = []
  const workers = new Set<number>()
  const figure = await perSecond({ workers: 3, operations: 10 }, async (worker, operation) => {
    workers.add(worker)
    done.push(operation)
    await Promise.resolve()
  })
  expect(figure).toBeGreaterThan(0)
  expect(workers.size).toBe(3)
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, n) => n))

  let ended = 0
  const all = together(3, async (worker) => {
    if (worker === 0) throw new Error('the first')
    await new Promise((resolve) => setImmediate(resolve))
    ended += 1
  })
  await expect(all).rejects.toThrow('the first')
  expect(ended).toBe(2)
})
