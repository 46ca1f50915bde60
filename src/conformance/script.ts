import { deferred, type Deferred } from './deferred.ts'
import { createTold } from './told.ts'

/** An entry that a transaction was told and has not carried out yet, or has. */
interface Entry<A> {
  readonly action: A
  readonly isCaught: boolean
  readonly settled: Deferred<unknown>
}

/** Runs a transaction whose work is what it is told, one action after another. */
export type OpenTransaction = (work: (tx: object) => Promise<void>) => Promise<void>

/**
 * A transaction that is told step by step what to do.
 *
 * When the library repeats it, it does again what it was told so far: that is what an application's work would do, and
 * on engines that wait by repeating it is how waiting looks.
 */
export interface Script<A> {
  /** Settles when the action has ended; rejects with what the whole transaction failed with. */
  readonly tell: (action: A, isCaught?: boolean) => Promise<unknown>
  readonly commit: () => Promise<void>
  readonly rollBack: () => Promise<void>
  /** Settles when the work has been entered for the first time. */
  readonly entered: Promise<void>
  readonly isOver: () => boolean
}

class RolledBack extends Error {}

export function startScript<A>(
  open: OpenTransaction,
  apply: (tx: object, action: A) => Promise<unknown>,
): Script<A> {
  const told = createTold<Entry<A> | 'commit' | 'roll-back'>()
  const entered = deferred<void>()
  let over: { readonly error?: unknown } | undefined
  const work = async (tx: object): Promise<void> => {
    entered.resolve()
    for (let index = 0; ; index += 1) {
      const entry = await told.at(index)
      if (entry === 'commit') return
      if (entry === 'roll-back') throw new RolledBack()
      await carryOut(entry, () => apply(tx, entry.action))
    }
  }
  const fail = (error: unknown): void => {
    over = { error }
    entered.reject(error)
    for (const entry of told.soFar()) if (typeof entry === 'object') entry.settled.reject(error)
  }
  const ended = open(work).then(() => (over = {}), fail)
  const finish = async (how: 'commit' | 'roll-back'): Promise<void> => {
    told.put(how)
    await ended
    if (over?.error instanceof Error && !(over.error instanceof RolledBack)) throw over.error
  }
  return {
    tell: async (action, isCaught = false) => {
      if (over?.error instanceof Error) throw over.error
      const settled = deferred<unknown>()
      told.put({ action, isCaught, settled })
      return settled.promise
    },
    commit: () => finish('commit'),
    rollBack: () => finish('roll-back'),
    entered: entered.promise,
    isOver: () => over !== undefined,
  }
}

/** An error that the session catches does not leave the transaction's work. */
async function carryOut<A>(entry: Entry<A>, run: () => Promise<unknown>): Promise<void> {
  try {
    entry.settled.resolve(await run())
  } catch (error) {
    if (!entry.isCaught) throw error
    entry.settled.reject(error)
  }
}
