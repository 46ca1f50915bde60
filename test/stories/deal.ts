import type { LockKey } from '../../src/core/key.ts'
import type { Target } from '../../src/core/request.ts'
import type { Row } from '../../src/core/statement.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import type { Controls, Shop } from './shop.ts'

/** Something that is decided by what is read, and then written: the unit that a lock has to keep together. */
export interface Deal {
  /** What is written after the look: decides how the deal goes wrong without a lock. */
  readonly writes: keyof Controls
  /** What is locked where there is no row that could be. */
  readonly name?: LockKey
  readonly look: (reader: Reader) => Promise<readonly Row[]>
  /** Says whether the deal was closed. */
  readonly act: (tx: unknown, facts: readonly Row[]) => Promise<boolean>
}

export interface Reader {
  /** Reads the rows that nobody else may change until the deal is done. */
  readonly guarded: (target: Target) => Promise<readonly Row[]>
  readonly plain: (target: Target) => Promise<readonly Row[]>
}

/** The deal in one transaction, its rows locked before anything is decided. Ends with an error at a deadlock. */
export function locked({ locks, find }: Shop, { look, act, name }: Deal): Promise<boolean> {
  const work = async (tx: unknown): Promise<boolean> => {
    const facts = await look({
      guarded: (target) => locks.rows(tx, target),
      plain: (target) => find(tx, target),
    })
    return act(tx, facts)
  }
  const options: TransactionOptions = {
    onRetry: ({ kind, error }) => {
      if (kind === 'deadlock') throw new Error('rows were locked in one order, and yet', { cause: error })
    },
  }
  return name === undefined ? locks.transaction(work, options) : locks.withLock(name, work, options)
}

/** How a deal is done without a lock. */
export interface Carelessness {
  readonly controls: Controls
  /** Waits, between look and act, until all the others have looked. */
  readonly meet: () => Promise<void>
}

/** The same deal with the lock left out. */
export async function unlocked(shop: Shop, deal: Deal, { controls, meet }: Carelessness): Promise<boolean> {
  const look = async (tx: unknown): Promise<readonly Row[]> => {
    const read = (target: Target): Promise<readonly Row[]> => shop.find(tx, target)
    const facts = await deal.look({ guarded: read, plain: read })
    await meet()
    return facts
  }
  const before = controls[deal.writes] === 'before' ? await look(undefined) : undefined
  return shop.locks.transaction(async (tx) => deal.act(tx, before ?? (await look(tx))), {
    isolation: 'read committed', // some servers of higher levels refuse to overwrite what they have not read
    attempts: 1000, // engines that refuse the second writer get all of them through in the end
  })
}
