import type { SavepointWatch } from '../core/session.ts'
import { isSeveral, lead } from './statement-fate.ts'

const words = new RegExp(
  String.raw`${lead}(?:(savepoint)|(release)(?:\s+savepoint)?|(rollback)(?:\s+(?:work|transaction))?\s+to(?:\s+savepoint)?)\s+("(?:[^"]|"")*"|[^\s;]+)`,
  'i',
)

const start = new RegExp(String.raw`${lead}(?:savepoint|release|rollback)\b`, 'i')

/** Most statements have nothing to do with savepoints. */
export function mayConcernSavepoints(sql: string): boolean {
  return start.test(sql) || isSeveral(sql)
}

/**
 * The savepoints of one transaction, as the texts of its statements tell.
 *
 * What cannot be told for certain counts as a return to the beginning: a name that was never seen, or a rollback among
 * several statements in one text.
 */
export class Savepoints implements SavepointWatch {
  now = 0
  returns = 0
  onReturn: SavepointWatch['onReturn']
  readonly #marks = new Map<string, number>()

  /** Told of a statement before it is sent. */
  read(sql: string): void {
    if (isSeveral(sql) && /\brollback\b/i.test(sql)) return this.#goBack(0)
    const [, isSet, isReleased, isReturn, word = ''] = words.exec(sql) ?? []
    const name = word.startsWith('"') ? word.slice(1, -1) : word.toLowerCase()
    if (isReturn !== undefined) this.#goBack(this.#marks.get(name) ?? 0)
    else if (isReleased !== undefined) this.#marks.delete(name)
    else if (isSet !== undefined) {
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
