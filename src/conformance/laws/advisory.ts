import { firstPartOnly } from '../controls/name-defects.ts'
import { unlocked } from '../controls.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import { joinLaws } from './advisory-join.ts'
import { levelLaws } from './advisory-levels.ts'
import { reentryLaws } from './advisory-reentry.ts'
import { oneForAll } from './one-for-all.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const noKill = ({ canKill }: Facts): string | undefined =>
  canKill ? undefined : 'there is no connection that a server could end'

const noSharing = ({ plan }: Facts): string | undefined =>
  plan('advisory', { mode: 'shared' })?.mode === 'shared' ? undefined : 'a lock is never shared here'

const exclusion: readonly Law[] = [
  defineLaw({
    id: 'A1',
    says: 'An advisory lock keeps others out until its transaction commits, and the next holder sees what was stored.',
    features: ['advisory'],
    rows: { 1: 10 },
    schedule: [
      a.beginLocked('k'),
      a.read(1).sees(10),
      b.beginLocked('k').waits(),
      a.write(1, 11),
      a.commit(),
      b.resumes(),
      b.read(1).sees(11),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A2',
    says: 'A rollback releases the lock.',
    features: ['advisory'],
    rows: { 1: 10 },
    schedule: [
      a.beginLocked('k'),
      a.write(1, 11),
      b.beginLocked('k').waits(),
      a.rollBack(),
      b.resumes(),
      b.read(1).sees(10),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A3',
    says: 'A transaction whose connection dies releases the lock, at every isolation level.',
    features: ['advisory'],
    rows: { 1: 10 },
    unless: noKill,
    schedule: (['read committed', 'repeatable read'] as const).flatMap((isolation) => [
      a.beginLocked('k', { isolation, attempts: 1 }),
      b.beginLocked('k', { isolation }).waits(),
      a.loseConnection(),
      b.resumes(),
      b.read(1).sees(10),
      b.commit(),
      a.commit().fails('any'),
    ]),
    control: unlocked,
  }),
  defineLaw({
    id: 'A4',
    says: 'Locks with different names do not block each other.',
    features: ['advisory'],
    unless: oneForAll,
    schedule: [
      a.beginLocked('x'),
      b.tryName('y').sees('granted'),
      b.beginLocked('y'),
      c.tryName('z').sees('granted'),
      b.commit(),
      a.commit(),
    ],
    control: firstPartOnly,
  }),
  defineLaw({
    id: 'A5',
    says: 'Transactions that read, decide and write under one lock lose no update, whatever the order of their steps.',
    features: ['advisory'],
    rows: { 1: 0 },
    interleave: {
      a: [a.beginLocked('quota'), a.read(1).atOnce(), a.addToSeen(1, 1), a.commit()],
      b: [b.beginLocked('quota'), b.read(1).atOnce(), b.addToSeen(1, 1), b.commit()],
    },
    always: (rows) => (rows.get(1) === 2 ? undefined : `the sum is ${rows.get(1)}, not 2`),
    control: unlocked,
  }),
]

const waiting: readonly Law[] = [
  defineLaw({
    id: 'A6',
    says: 'Trying a lock returns at once: refused while it is held, granted when it is free.',
    features: ['advisory'],
    schedule: [
      a.beginLocked('k'),
      b.tryName('k').sees('busy'),
      b.tryName('k', 'repeatable read').sees('busy'),
      a.commit(),
      b.tryName('k').sees('granted'),
      b.tryName('k', 'repeatable read').sees('granted'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A7',
    says: 'A wait with a timeout ends when the time is over, not earlier, and leaves nothing behind.',
    features: ['advisory', 'lock-timeout'],
    schedule: [
      a.beginLocked('k'),
      b
        .beginLocked('k', { wait: { timeoutMs: 200 } })
        .fails('LOCK_TIMEOUT')
        .notBefore(200),
      b
        .beginLocked('k', { wait: { timeoutMs: 200 }, isolation: 'repeatable read' })
        .fails('LOCK_TIMEOUT')
        .notBefore(200),
      a.commit(),
      b.tryName('k').sees('granted'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A8',
    says: "A wait with a timeout gets a lock that is released in time, and leaves the connection's settings as they were.",
    features: ['advisory', 'lock-timeout'],
    schedule: (['read committed', 'repeatable read'] as const).flatMap((isolation) => [
      a.beginLocked('k'),
      b.beginLocked('k', { wait: { timeoutMs: 20_000 }, isolation }).waits(),
      a.commit(),
      b.resumes(),
      b.commit(),
    ]),
    control: unlocked,
  }),
  defineLaw({
    id: 'A9',
    says: 'A waiter that gives up holds nothing afterwards, and blocks nobody.',
    features: ['advisory'],
    schedule: (['read committed', 'repeatable read'] as const).flatMap((isolation) => [
      a.beginLocked('k'),
      b.beginLocked('k', { isolation }).waits(),
      b.giveUp(),
      a.commit(),
      b.resumes().fails('any'),
      c.beginLocked('k'),
      c.commit(),
    ]),
    control: unlocked,
  }),
]

const sharing: readonly Law[] = [
  defineLaw({
    id: 'A10',
    says: 'Several clients can hold shared locks of one name; an exclusive lock waits for the last of them.',
    features: ['advisory'],
    unless: noSharing,
    schedule: [
      a.beginLocked('k', { mode: 'shared' }),
      b.beginLocked('k', { mode: 'shared' }),
      c.beginLocked('k').waits(),
      a.commit(),
      c.resumes().waits(),
      b.commit(),
      c.resumes(),
      c.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A11',
    says: 'A shared and an exclusive lock exclude each other, whichever comes first.',
    features: ['advisory'],
    schedule: [
      a.beginLocked('k', { mode: 'shared' }),
      b.beginLocked('k').waits(),
      a.commit(),
      b.resumes(),
      a.beginLocked('k', { mode: 'shared' }).waits(),
      b.commit(),
      a.resumes(),
      a.commit(),
    ],
    control: unlocked,
  }),
]

/** Named locks that last as long as a transaction. */
export const advisoryLaws: readonly Law[] = [
  ...exclusion,
  ...waiting,
  ...sharing,
  ...levelLaws,
  ...joinLaws,
  ...reentryLaws,
]
