import { unlocked } from '../controls.ts'
import { keepsSilent } from '../controls/row-calls.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import { endsWithRefusal, lockedByBegin, moreThanRows, noSharing } from './row-facts.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const nowait = { wait: 'nowait' } as const

/** Much more than a busy machine needs, and less than any wait for a lock that is not told when to end. */
const atOnceMs = 10_000

export const nowaitLaws: readonly Law[] = [
  defineLaw({
    id: 'N1',
    says: 'NOWAIT on a locked row fails at once, and the error says why.',
    features: ['nowait', 'row-exclusive'],
    rows: { 1: 10, 2: 20 },
    unless: lockedByBegin,
    schedule: ({ plan }) => {
      // where there is no NOWAIT it is the shortest wait of the engine
      const { timeoutMs = 0 } = plan('nowait')?.waiting ?? {}
      return [
        a.begin(),
        a.lockRow(2),
        b.begin(),
        b
          .lockRow([1, 2], nowait)
          .fails('LOCK_NOT_AVAILABLE')
          .within(timeoutMs + atOnceMs),
        a.commit(),
      ]
    },
    control: keepsSilent,
  }),
  defineLaw({
    id: 'N2',
    says: 'NOWAIT on a free row locks it like any other request.',
    features: ['nowait', 'row-exclusive'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1, nowait).sees(10),
      b.begin(),
      b.lockRow(1).waits(),
      a.write(1, 11),
      a.commit(),
      b.resumes().sees(11),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'N3',
    says: 'A transaction that catches the NOWAIT error can go on, and still holds its earlier locks.',
    features: ['nowait', 'row-exclusive'],
    rows: { 1: 10, 2: 20 },
    unless: (facts) => endsWithRefusal(facts) ?? moreThanRows(facts),
    schedule: [
      a.begin(),
      a.lockRow(2),
      b.begin(),
      b.lockRow(1),
      b.write(1, 11),
      b.lockRow(2, { ...nowait, savepoint: true }).failsGently('LOCK_NOT_AVAILABLE'),
      c.begin(),
      c.lockRow(1).waits(),
      b.add(1, 1),
      b.commit(),
      c.resumes().sees(12),
      c.commit(),
      a.commit(),
    ],
    control: keepsSilent,
  }),
  defineLaw({
    id: 'N4',
    says: 'A shared NOWAIT request fails next to an exclusive lock and succeeds next to a shared one.',
    features: ['nowait', 'row-shared'],
    rows: { 1: 10, 2: 20 },
    unless: noSharing,
    schedule: [
      a.begin(),
      a.lockRow(1),
      a.lockRow(2, { mode: 'shared' }),
      b.begin(),
      b.lockRow(2, { ...nowait, mode: 'shared' }).sees(20),
      b.lockRow(1, { ...nowait, mode: 'shared' }).fails('LOCK_NOT_AVAILABLE'),
      a.commit(),
    ],
    control: keepsSilent,
  }),
]
