import { asItIs, madeOf } from '../../core/on-demand.ts'
import type { OpenTransaction } from '../port.ts'
import * as seldom from '../seldom.ts'
import { stepsOf } from '../transaction/part.ts'
import type { InOrder, InOrderPort } from './in-order.ts'
import type { Once } from './once.ts'
import type { OptimisticPort, OptimisticWrites } from './optimistic.ts'

/** What is made of locks and transactions. */
export interface Patterns<Tx> extends OptimisticWrites<Tx> {
  readonly once: Once<Tx>
  readonly inOrder: InOrder<Tx>
}

export interface PatternsPort<Tx> extends OptimisticPort<Tx>, InOrderPort<Tx> {
  /** The transaction that is open in this chain of calls. */
  readonly current: () => OpenTransaction<Tx> | undefined
}

/** A call counts as a part of its transaction while its code is loaded. */
export function createPatterns<Tx>(port: PatternsPort<Tx>): Patterns<Tx> {
  const once = madeOf(seldom.once, ({ createOnce }) => createOnce(port))
  const inOrder = madeOf(seldom.inOrder, ({ createInOrder }) => createInOrder(port))
  const writes = madeOf(seldom.optimistic, ({ createOptimisticWrites }) => createOptimisticWrites(port))
  return {
    once: async (tx, given, work) => {
      const key = asItIs(given)
      return stepsOf(port.find(tx), () => once((run) => run(tx, key, work)))
    },
    inOrder: async (tx, given, asked) => {
      const [resources, options] = [asItIs(given), asItIs(asked)]
      return stepsOf(port.find(tx), () => inOrder((lock) => lock(tx, resources, options)))
    },
    updateVersioned: async (tx, given) => {
      const update = asItIs(given)
      return stepsOf(port.find(tx), () => writes(({ updateVersioned }) => updateVersioned(tx, update)))
    },
    withVersion: async (given, decide, asked) => {
      const [target, options] = [asItIs(given), asItIs(asked)]
      const write = (): Promise<number> => writes(({ withVersion }) => withVersion(target, decide, options))
      const outer = port.current()
      return outer === undefined ? write() : stepsOf(outer, write)
    },
  }
}
