import { unlocked } from '../controls.ts'
import { stopsListening } from '../controls/row-calls.ts'
import { leavesTimeouts } from '../controls/row-waits.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import { limitedBegin, moreThanRows, noQueue } from './row-facts.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const upTo = (timeoutMs: number): { readonly wait: { readonly timeoutMs: number } } => ({
  wait: { timeoutMs },
})

/** Some engines look at the clock only now and then, and machines are busy. */
const slackMs = 3000
const shortMs = 300

/** How long a wait of this length may take: some engines count in whole seconds. */
const limitOf = ({ plan }: Facts, timeoutMs: number): number =>
  plan('lock-timeout', upTo(timeoutMs))?.waiting.timeoutMs ?? timeoutMs

/** The shortest wait that is done in the way in which long ones are. */
function longMs({ plan }: Facts): number {
  const by = (timeoutMs: number): unknown => plan('lock-timeout', upTo(timeoutMs))?.waiting.by
  return by(shortMs) === by(60_000) ? shortMs : 1000
}

export const timeoutLaws: readonly Law[] = [
  defineLaw({
    id: 'T1',
    says: 'A wait for a row with a timeout ends when the time is over, neither early nor much later.',
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10 },
    schedule: (facts) => [
      a.begin(),
      a.lockRow(1),
      b.begin(limitedBegin(facts, shortMs)),
      b
        .lockRow(1, upTo(shortMs))
        .fails('LOCK_TIMEOUT')
        .notBefore(shortMs)
        .within(limitOf(facts, shortMs) + slackMs),
      a.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'T2',
    says: 'A wait with a timeout gets the row if the holder releases it in time.',
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10 },
    schedule: (facts) =>
      (longMs(facts) === shortMs ? [20_000] : [20_000, 999]).flatMap((timeoutMs, index) => [
        a.begin(),
        a.lockRow(1).sees(10 + index),
        b.begin(limitedBegin(facts, timeoutMs)),
        b.lockRow(1, upTo(timeoutMs)).waits(),
        a.write(1, 11 + index),
        a.commit(),
        b.resumes().sees(11 + index),
        c.begin(),
        c.lockRow(1).waits(),
        b.commit(),
        c.resumes().sees(11 + index),
        c.commit(),
      ]),
    control: unlocked,
  }),
  defineLaw({
    id: 'T3',
    says: "A transaction's lock timeout applies to every lock in it, and ends with it.",
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1),
      b.begin({ lockTimeoutMs: shortMs }),
      b
        .lockRow(1)
        .fails('LOCK_TIMEOUT')
        .notBefore(shortMs)
        .within(1000 + slackMs),
      b.begin(),
      b.lockRow(1).waits(),
      a.commit(),
      b.resumes().sees(10),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'T4',
    says: "A transaction's lock timeout also applies to writes that ask for no lock.",
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10 },
    unless: noQueue,
    schedule: [
      a.begin(),
      a.lockRow(1),
      b.begin({ lockTimeoutMs: shortMs }),
      b
        .write(1, 11)
        .fails('LOCK_TIMEOUT')
        .notBefore(shortMs)
        .within(1000 + slackMs),
      a.commit(),
      a.read(1).sees(10),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'T5',
    says: 'The timeout of one lock does not carry over to the next lock in the same transaction.',
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10, 2: 20 },
    unless: moreThanRows,
    schedule: (facts) => {
      const limitMs = longMs(facts)
      return [
        a.begin(),
        a.lockRow(1),
        b.begin(),
        b.lockRow(2, upTo(limitMs)).sees(20),
        b.lockRow(1).waits(),
        // when this one has waited in vain, the first would have done so too
        c.begin(),
        c
          .lockRow(1, upTo(limitMs))
          .fails('LOCK_TIMEOUT')
          .notBefore(limitMs)
          .within(limitOf(facts, limitMs) + slackMs),
        b.resumes().waits(),
        a.commit(),
        b.resumes().sees(10),
        b.commit(),
      ]
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'T6',
    says: "The connection's own lock timeout is restored for its next user, however the transaction ended.",
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10 },
    unless: ({ plan, dialect }) =>
      plan('lock-timeout')?.setting === undefined && dialect.transaction.lockTimeout === undefined
        ? 'no setting of the connection is needed to limit a wait'
        : undefined,
    schedule: [
      a.begin(),
      a.lockRow(1, upTo(5000)).sees(10),
      a.commit(),
      a.begin({ lockTimeoutMs: 5000 }),
      a.lockRow(1, upTo(6000)).sees(10),
      a.rollBack(),
      a.begin({ lockTimeoutMs: 5000 }),
      a.lockRow(1).sees(10),
      a.commit(),
    ],
    control: leavesTimeouts,
  }),
  defineLaw({
    id: 'T7',
    says: 'After a lock timeout the row is not granted later; a transaction that catches the error can go on and keeps its locks.',
    features: ['lock-timeout', 'row-exclusive'],
    rows: { 1: 10, 2: 20, 3: 30 },
    unless: noQueue,
    schedule: (facts) => [
      a.begin(),
      a.lockRow(1),
      b.begin(),
      b.lockRow(2),
      b.lockRow(1, { ...upTo(longMs(facts)), savepoint: true }).failsGently('LOCK_TIMEOUT'),
      a.commit(),
      b.lockRow(3).sees(30),
      c.begin({ lockTimeoutMs: 1000 }),
      c.lockRow(1).sees(10),
      c.commit(),
      c.begin(),
      c.lockRow(2).waits(),
      b.write(2, 21),
      b.commit(),
      c.resumes().sees(21),
      c.commit(),
    ],
    control: stopsListening,
  }),
]
