import type { SavepointWatch } from '../core/session.ts'
import { statementsOf, type Spelling } from './sql-text.ts'

const words =
  /^(?:(savepoint)|(release)(?: savepoint)?|(rollback)(?: (?:work|transaction))? to(?: savepoint)?) (\S+)$/

/**
 * The savepoints of one transaction, as the texts of its statements tell.
 *
 * What cannot be told for certain counts as a return to the beginning: a name that was never seen, or that is not a
 * plain word.
 */
export class Savepoints implements SavepointWatch {
  now = 0
  returns = 0
  onReturn: SavepointWatch['onReturn']
  readonly #spelling: Spelling
  readonly #marks = new Map<string, number>()

  constructor(spelling: Spelling) {
    this.#spelling = spelling
  }

  /** Told of a text before it is sent. */
  read(sql: string): void {
    for (const statement of statementsOf(sql, this.#spelling)) this.#readOne(statement)
  }

  #readOne(statement: string): void {
    const [, isSet, isReleased, isReturn, word = ''] = words.exec(statement) ?? []
    // with and without quotes: of two names that differ in case only, the older one counts
    const name = word.replaceAll('"', '')
    if (isReturn !== undefined) this.#goBack(this.#marks.get(name) ?? 0)
    else if (isReleased !== undefined) this.#marks.delete(name)
    else if (isSet !== undefined && /^\w+$/.test(name)) {
      this.now += 1
      // of two with one name the older one counts: it takes along what came between
      if (!this.#marks.has(name)) this.#marks.set(name, this.now)
    }
  }

  #goBack(since: number): void {
    this.now += 1
    this.returns += 1
    this.onReturn?.(since)
  }
}
