import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { contest, type Outcome } from './contest.ts'
import type { Way } from './worker.ts'

const processes = 4
const waiters = 8
const each = 10
const ways: readonly Way[] = ['handles', 'handle', 'by-hand']

// How long the event loop stands still, and how evenly the processes share the file, are figures: see the bench.
describe(`${processes} processes of ${waiters} waiters on one database file`, () => {
  let folder = ''
  const outcomes = new Map<Way, Outcome>()
  const outcome = (way: Way): Outcome => outcomes.get(way) ?? expect.unreachable(`${way} was not run`)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-contention-'))
    for (const way of ways) {
      const file = join(folder, `${way}.db`)
      outcomes.set(way, await contest({ way, file, processes, waiters, part: { each } }))
    }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  describe.each(['handles', 'handle'] as const)('through our locks, %s', (way) => {
    test('all come to their turns, lose no update and repeat nothing', () => {
      const { reports, counter } = outcome(way)
      expect(counter).toBe(processes * waiters * each)
      expect(reports.flatMap(({ finished }) => finished)).toEqual(Array(processes * waiters).fill(each))
      expect(reports.flatMap(({ failures }) => failures)).toEqual([])
    })

    test('begin every transaction with the write lock, and never let SQLite wait on the thread', () => {
      expect(textsOf(outcome(way))).toEqual(['BEGIN IMMEDIATE, busy_timeout 0', 'COMMIT, busy_timeout 0'])
    })

    test('give the event loop a round between any two transactions', () => {
      expect(outcome(way).reports.map(({ sent }) => sent.crowdedRounds)).toEqual(Array(processes).fill(0))
    })

    test('take their turns in the order of asking, in each process', () => {
      const { turns } = outcome(way)
      expect(turns).toHaveLength(processes)
      for (const ofProcess of turns) {
        const first = ofProcess.slice(0, waiters)
        expect(new Set(first).size).toBe(waiters)
        expect(ofProcess).toEqual(Array.from({ length: each }, () => first).flat())
      }
    })

    test('leave the busy_timeout of the application as it was', () => {
      expect(outcome(way).reports.map(({ busyTimeoutMs }) => busyTimeoutMs)).toEqual(
        Array.from({ length: processes }, () => 5000),
      )
    })
  })

  test('by hand, SQLite is let wait on the thread', () => {
    expect(textsOf(outcome('by-hand'))).toContain('BEGIN IMMEDIATE, busy_timeout 5000')
  })
})

/** All that their processes have sent, each text once. */
function textsOf({ reports }: Outcome): readonly string[] {
  return [...new Set(reports.flatMap(({ sent }) => sent.texts))].toSorted()
}
