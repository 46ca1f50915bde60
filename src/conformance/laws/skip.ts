import { unlocked } from '../controls.ts'
import { deferred } from '../deferred.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import type { Stage } from '../stage.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const skip = { wait: 'skip' } as const

/** Much more than a busy machine needs, and less than any wait for a lock that is not told when to end. */
const atOnceMs = 10_000

export const skipLaws: readonly Law[] = [
  defineLaw({
    id: 'K1',
    says: 'SKIP LOCKED returns the unlocked rows at once, in key order.',
    features: ['skip-locked'],
    rows: { 1: 10, 2: 20, 3: 30, 4: 40 },
    schedule: [
      a.begin(),
      a.lockRow(1).sees(10),
      a.lockRow(3).sees(30),
      b.begin({ lockTimeoutMs: 2000 }),
      b.lockRow([4, 3, 2, 1], skip).sees([20, 40]).within(atOnceMs),
      c.begin({ lockTimeoutMs: 2000 }),
      c.lockRow([1, 2, 3, 4], skip).sees([]).within(atOnceMs),
      c.commit(),
      b.commit(),
      a.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'K2',
    says: 'SKIP LOCKED locks the rows it returns, and none of those it skips.',
    features: ['skip-locked'],
    rows: { 1: 10, 2: 20 },
    schedule: [
      a.begin(),
      a.lockRow(1),
      b.begin({ lockTimeoutMs: 2000 }),
      b.lockRow([1, 2], skip).sees([20]),
      a.commit(),
      a.begin({ lockTimeoutMs: 1000 }),
      a.lockRow(1).sees(10),
      a.commit(),
      c.begin(),
      c.lockRow(2).waits(),
      b.write(2, 21),
      b.commit(),
      c.resumes().sees(21),
      c.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'K3',
    says: 'Workers that skip at the same moment never get the same row.',
    features: ['skip-locked'],
    rows: { 1: 10, 2: 20, 3: 30, 4: 40, 5: 50, 6: 60 },
    trial: disjoint,
    control: unlocked,
  }),
]

const workers = ['a', 'b', 'c']
const rounds = 5

/** All ask at once, and none ends before all have been answered: what two have got, both hold. */
async function disjoint(stage: Stage): Promise<void> {
  const clients = await Promise.all(workers.map((name) => stage.client(name)))
  const target = stage.facts.tools.fixture.target(stage.table, [1, 2, 3, 4, 5, 6])
  for (let round = 1; round <= rounds; round += 1) {
    const all = deferred<void>()
    const got: number[] = []
    let answered = 0
    const take = async (locks: (typeof clients)[number]['locks']): Promise<void> =>
      locks.transaction(
        async (tx) => {
          try {
            const rows = await locks.rows(tx, target, skip)
            got.push(...rows.map(({ n }) => Number(n)))
          } finally {
            answered += 1
            if (answered === clients.length) all.resolve()
          }
          await all.promise
        },
        { attempts: 1, lockTimeoutMs: 2000, signal: stage.signal },
      )
    const working = clients.map(({ locks }, index) =>
      stage.note(workers[index] ?? '', `lock what is free (round ${round})`, take(locks)),
    )
    await Promise.all(working)
    stage.expect(
      new Set(got).size === got.length,
      `in round ${round} two workers hold one row: ${got.join(', ')}`,
    )
    stage.expect(got.length > 0, `in round ${round} nobody got a row`)
  }
}
