import type { Isolation } from '../../core/request.ts'
import { unlocked } from '../controls.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'

const a = session('a')
const b = session('b')

const levels = ['read committed', 'repeatable read', 'snapshot', 'serializable'] as const

/**
 * What the lock is for: a transaction that reads as of its first statement, and waits for the lock in that statement,
 * would go on with what was there before the wait.
 */
function freshAt(isolation: Isolation, id: string): Law {
  return defineLaw({
    id,
    says: `At ${isolation}, a transaction that has waited for the lock sees what its last holder committed.`,
    features: ['advisory'],
    rows: { 1: 10 },
    schedule: [
      a.beginLocked('k', { isolation }),
      a.read(1).sees(10),
      b.beginLocked('k', { isolation }).waits(),
      b.read(1).waits(), // so that it is read in the very moment in which the lock is granted
      a.write(1, 11),
      a.commit(),
      b.resumes().sees(11),
      b.addToSeen(1, 1),
      b.commit(),
      a.read(1).sees(12),
    ],
    control: unlocked,
  })
}

/** One for each isolation level; where an engine has no such level it refuses the transaction, and so the law. */
export const levelLaws: readonly Law[] = levels.map((level, index) => freshAt(level, `A${12 + index}`))
