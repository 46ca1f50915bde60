import type { Isolation } from '../../core/request.ts'
import { unlocked } from '../controls.ts'
import { locksEveryRow } from '../controls/row-calls.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import { lockedByBegin, moreThanRows, noGuardOnWrites, noKill } from './row-facts.ts'

const a = session('a')
const b = session('b')
const c = session('c')

/** The snapshot is older than the wait: the engine may repeat the transaction, but not go on with what it saw. */
function newestAt(isolation: Isolation, id: string): Law {
  return defineLaw({
    id,
    says: `At ${isolation}, a transaction that has read, and then waited for a row, sees what the holder committed.`,
    features: ['row-exclusive'],
    rows: { 1: 10, 2: 20 },
    unless: lockedByBegin,
    schedule: [
      a.begin({ isolation }),
      a.lockRow(1).sees(10),
      b.begin({ isolation }),
      b.read(2).sees(20),
      b.lockRow(1).waits(),
      a.write(1, 11),
      a.commit(),
      b.resumes().sees(11),
      b.addToSeen(1, 1),
      b.commit(),
      b.read(1).sees(12),
    ],
    control: unlocked,
  })
}

export const rowLaws: readonly Law[] = [
  defineLaw({
    id: 'R1',
    says: 'A second transaction waits for a locked row, and then sees what the first one committed.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1).sees(10),
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
    id: 'R2',
    says: 'A rollback releases the row and discards what was written.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1),
      a.write(1, 11),
      b.begin(),
      b.lockRow(1).waits(),
      a.rollBack(),
      b.resumes().sees(10),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'R3',
    says: 'A transaction whose connection dies releases the row.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    unless: noKill,
    schedule: [
      a.begin({ attempts: 1 }),
      a.lockRow(1),
      a.write(1, 11),
      b.begin(),
      b.lockRow(1).waits(),
      a.loseConnection(),
      b.resumes().sees(10),
      b.commit(),
      a.commit().fails('any'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'R4',
    says: 'A waiter gets no row when the holder deletes it.',
    features: ['row-exclusive'],
    rows: { 1: 10, 2: 20 },
    schedule: [
      a.begin(),
      a.lockRow(1),
      b.begin(),
      b.lockRow(1).waits(),
      a.delete(1),
      a.commit(),
      b.resumes().sees(undefined),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'R5',
    says: 'A locked row is also protected from writers that ask for no lock.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    unless: noGuardOnWrites,
    schedule: [
      a.begin(),
      a.lockRow(1),
      b.begin({ attempts: 100 }),
      b.add(1, 5).waits(),
      a.write(1, 20),
      a.commit(),
      b.resumes(),
      b.commit(),
      b.read(1).sees(25),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'R6',
    says: 'A lock on one row does not block access to other rows of the table.',
    features: ['row-exclusive'],
    rows: { 1: 10, 2: 20 },
    unless: moreThanRows,
    schedule: [
      a.begin(),
      a.lockRow(1).sees(10),
      b.begin({ lockTimeoutMs: 1000 }),
      b.lockRow(2).sees(20),
      b.write(2, 21),
      b.commit(),
      a.commit(),
      a.read(2).sees(21),
    ],
    control: locksEveryRow,
  }),
  defineLaw({
    id: 'R7',
    says: 'A waiter that gives up never gets the row later.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1),
      b.begin(),
      b.lockRow(1).waits(),
      b.giveUp(),
      // a way in that cannot end a connection gives the transaction up only when the row is free
      a.commit(),
      b.commit().fails('any'),
      c.begin({ lockTimeoutMs: 1000 }),
      c.lockRow(1).sees(10),
      c.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'R8',
    says: 'Two transactions that lock, read and add lose no update, whatever the order of their steps.',
    features: ['row-exclusive'],
    rows: { 1: 0 },
    interleave: {
      a: [a.begin(), a.lockRow(1), a.addToSeen(1, 1), a.commit()],
      b: [b.begin(), b.lockRow(1), b.addToSeen(1, 1), b.commit()],
    },
    always: (rows) => (rows.get(1) === 2 ? undefined : `the sum is ${rows.get(1)}, not 2`),
    control: unlocked,
  }),
  newestAt('repeatable read', 'R9'),
  newestAt('serializable', 'R10'),
]
