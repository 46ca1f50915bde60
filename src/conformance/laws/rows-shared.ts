import { unlocked } from '../controls.ts'
import { locksInPlaceOfSharing } from '../controls/row-modes.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import { noSharing } from './row-facts.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const shared = { mode: 'shared' } as const

export const sharedRowLaws: readonly Law[] = [
  defineLaw({
    id: 'R11',
    says: 'Several transactions can hold shared locks on one row; an exclusive lock waits for the last of them.',
    features: ['row-shared'],
    rows: { 1: 10 },
    unless: noSharing,
    schedule: [
      a.begin(),
      a.lockRow(1, shared).sees(10),
      b.begin({ lockTimeoutMs: 1000 }),
      b.lockRow(1, shared).sees(10),
      c.begin(),
      c.lockRow(1).waits(),
      a.commit(),
      c.resumes().waits(),
      b.commit(),
      c.resumes().sees(10),
      c.commit(),
    ],
    control: locksInPlaceOfSharing,
  }),
  defineLaw({
    id: 'R12',
    says: 'A shared lock keeps the row unchanged: writers wait.',
    features: ['row-shared'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1, shared).sees(10),
      b.begin(),
      b.lockRow(1).waits(),
      a.read(1).sees(10),
      a.commit(),
      b.resumes().sees(10),
      b.write(1, 11),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'R13',
    says: 'A shared lock waits for an exclusive one, and then sees what that holder committed.',
    features: ['row-shared'],
    rows: { 1: 10 },
    schedule: [
      a.begin(),
      a.lockRow(1).sees(10),
      b.begin(),
      b.lockRow(1, shared).waits(),
      a.write(1, 11),
      a.commit(),
      b.resumes().sees(11),
      b.commit(),
    ],
    control: unlocked,
  }),
]
