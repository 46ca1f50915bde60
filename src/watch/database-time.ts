import { performance } from '../core/clock.ts'
import { endsTransaction } from './statement-end.ts'
import type { StatementEvent, TransactionEvent } from '../events/shapes.ts'

interface Tally {
  underWay: number
  since: number
  spentMs: number
  last: string | undefined
}

/** How long the transactions of this process have had statements under way. */
export class DatabaseTime {
  readonly #tallies = new WeakMap<TransactionEvent, Tally>()

  started(statement: StatementEvent): void {
    const { transaction, text } = statement
    const tally = this.#of(transaction)
    if (tally === undefined) return
    if (tally.underWay === 0) tally.since = performance.now()
    tally.underWay += 1
    if (!endsTransaction(statement)) tally.last = text
  }

  ended({ transaction }: StatementEvent): void {
    const tally = this.#of(transaction)
    if (tally === undefined || tally.underWay === 0) return
    tally.underWay -= 1
    if (tally.underWay === 0) tally.spentMs += performance.now() - tally.since
  }

  /** Up to now. Undefined where the adapter shows no statements. */
  spentMs(transaction: TransactionEvent | undefined): number | undefined {
    if (transaction?.showsStatements !== true) return undefined
    const tally = this.#of(transaction)
    if (tally === undefined) return undefined
    return tally.spentMs + (tally.underWay > 0 ? performance.now() - tally.since : 0)
  }

  /** The text that was sent last, but for the end of the transaction. */
  lastText(transaction: TransactionEvent | undefined): string | undefined {
    return transaction && this.#tallies.get(transaction)?.last
  }

  #of(transaction: TransactionEvent | undefined): Tally | undefined {
    if (transaction === undefined) return undefined
    let tally = this.#tallies.get(transaction)
    if (tally === undefined) {
      tally = { underWay: 0, since: 0, spentMs: 0, last: undefined }
      this.#tallies.set(transaction, tally)
    }
    return tally
  }
}
