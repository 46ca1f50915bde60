import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'

import { startEtcd } from '../../engines/etcd-server.ts'
import { useExtraServer } from '../../engines/extra-server.ts'
import { judge } from './judge.ts'
import { entriesIn, lineOf, type Entry } from './log.ts'
import { storm, type StormPlan } from './storm.ts'

/** Tells whether clusters can be had on this machine: each storm has one of its own. */
const shared = useExtraServer(() => startEtcd())

const log = join(tmpdir(), `holdfast-storm-${randomUUID()}.log`)
afterEach(() => rm(log, { force: true }))

// Windows cannot stop a process where it stands
describe.skipIf(process.platform === 'win32')('processes that want one lease of etcd', () => {
  const plan: Omit<StormPlan, 'goOn'> = { processes: 4, ttlMs: 1000, memberEveryMs: 1000, seed: 1, log }

  test(
    'have it one after another, although they are killed and stopped, and so are the members',
    { timeout: 300_000 },
    async ({ skip }) => {
      shared(skip)
      const result = await storm({
        ...plan,
        goOn: ({ holdersKilled, holdersStopped, membersKilled }, { holders }) =>
          holdersKilled === 0 || holdersStopped === 0 || membersKilled === 0 || holders < 5,
      })
      expect(result.overlaps).toEqual([])
      expect(result.holders).toBeGreaterThanOrEqual(5)
    },
  )

  test('are found out when each has a lease of its own', { timeout: 300_000 }, async ({ skip }) => {
    shared(skip)
    const goOn: StormPlan['goOn'] = (_, { overlaps }) => overlaps.length === 0
    const { overlaps } = await storm({ ...plan, memberEveryMs: 600_000, isWithoutLock: true, goOn })
    expect(overlaps).not.toEqual([])
  })
})

describe('a log', () => {
  const judged = (...entries: readonly Entry[]): readonly string[] => judge(entries).overlaps
  const look = (by: number, fence: number, at: number, until: number): Entry => ({ by, fence, at, until })
  const end = (by: number, fence: number, endedAt: number): Entry => ({ by, fence, endedAt })

  test('of holders one after another is in order, in whatever order it was written', () => {
    const entries = [
      look(3, 9, 40, 50),
      look(1, 5, 0, 10),
      look(1, 5, 8, 20),
      look(2, 7, 20, 90),
      end(2, 7, 33),
    ]
    expect(judge(entries)).toEqual({ holders: 3, overlaps: [], longestGapMs: 7, failures: [] })
  })

  test.for<{ title: string; entries: readonly Entry[] }>([
    {
      title: 'a holder that begins before the last one has ended',
      entries: [look(1, 5, 0, 10), end(1, 5, 9), look(2, 6, 8, 20)],
    },
    {
      title: 'a holder that begins in the time that one who was killed could rely on',
      entries: [look(1, 5, 0, 10), look(1, 5, 5, 15), look(2, 6, 12, 20)],
    },
    {
      title: 'a renewal that is confirmed after another has begun',
      entries: [look(1, 5, 0, 10), look(2, 6, 10, 20), look(1, 5, 11, 21)],
    },
    {
      title: 'an overlap with a holder before the last one',
      entries: [look(1, 5, 0, 100), look(2, 6, 100, 101), look(1, 5, 50, 110), look(3, 7, 105, 120)],
    },
    { title: 'a lower fence after a higher one', entries: [look(1, 6, 0, 10), look(2, 5, 20, 30)] },
    { title: 'one fence that two have', entries: [look(1, 5, 0, 10), look(2, 5, 20, 30)] },
  ])('of $title is found out', ({ entries }) => {
    expect(judged(...entries)).not.toEqual([])
  })

  test('says nothing against a process that wakes up when its lease is over', () => {
    expect(judged(look(2, 6, 20, 40), look(1, 5, 30, 30), end(1, 5, 31))).toEqual([])
  })

  test('is read up to its last whole line, and one that is broken is not passed over', () => {
    const [first, second] = [look(1, 5, 0, 10), { by: 2, failed: 'no\nanswer' }]
    expect(entriesIn(`${lineOf(first)}${lineOf(second)}{"by":`)).toEqual([first, second])
    expect(() => entriesIn(`{"by":\n${lineOf(first)}`)).toThrow(SyntaxError)
  })
})
