import type { Row } from '../core/statement.ts'
import type { Command, Lock } from './command.ts'
import { deadlock, outOfOrder } from './error.ts'
import type { Memory } from './memory.ts'
import { notInTime } from './statement.ts'

/** What a statement is answered with that is made to fail: an error is thrown, an answer given. Undefined for all others. */
export function strike(memory: Memory, asked: Command, isInTransaction: boolean): readonly Row[] | undefined {
  const { faults, leases } = memory
  const isLock = asked.do === 'lock' || asked.do === 'guard' || asked.do === 'change' || asked.do === 'insert'
  if (isInTransaction && isLock && faults.strikes('deadlock') !== undefined) throw deadlock()
  if (asked.do === 'lock') return strikeLock(memory, asked)
  if ((asked.do === 'renew' || asked.do === 'guard') && faults.strikes('lease-lost') !== undefined)
    leases.takeAway(asked.held.name)
  return undefined
}

/**
 * Somebody who is ready to wait for a lock of a session tries it first, and waits when that is refused: so both are, and a
 * caller who only tries is told the one thing, a caller who waits the other.
 */
function strikeLock({ faults }: Memory, { name, waitMs, until }: Lock): readonly Row[] | undefined {
  const isFollowed = faults.refused.delete(name) && waitMs !== 0
  if (!isFollowed && faults.strikes('lock-timeout') === undefined) return undefined
  if (waitMs !== 0) return notInTime()
  if (until === 'session') faults.refused.add(name)
  return [{ answer: 0 }]
}

/** Throws what a COMMIT fails with that is made to lose. */
export function strikeCommit({ faults }: Memory): void {
  if (faults.strikes('deadlock') !== undefined) throw deadlock()
  if (faults.strikes('serialization') !== undefined) throw outOfOrder()
}
