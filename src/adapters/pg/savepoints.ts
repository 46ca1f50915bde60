import { textOf, type PreparedTexts } from './query.ts'
import { savepointSteps, type SavepointSteps, type SavepointTag } from '../savepoint-steps.ts'
import type { Savepoints } from '../savepoints.ts'
import type { Spelling } from '../sql-text.ts'

/** What is used of a client to know which query the server is answering. Older versions have it under the other name. */
interface Answering {
  readonly _activeQuery?: object | null
  readonly activeQuery?: object | null
  readonly connection?: PreparedTexts
}

/** The tags that the server answers savepoint statements with. */
export function isSavepointTag(tag: string): tag is SavepointTag {
  return tag === 'SAVEPOINT' || tag === 'RELEASE' || tag === 'ROLLBACK'
}

/** Tells the savepoints of a transaction what the server has done: each tag belongs to the next step of its text. */
export class PgSavepoints {
  readonly #client: Answering
  readonly #spelling: Spelling
  #query: object | null | undefined
  #steps: SavepointSteps = []
  #next = 0

  constructor(client: object, spelling: Spelling) {
    this.#client = client
    this.#spelling = spelling
  }

  completed(tag: SavepointTag, savepoints: Savepoints | undefined): void {
    const { _activeQuery, connection } = this.#client
    // the older name warns where there is the newer one
    const query = _activeQuery === undefined ? this.#client.activeQuery : _activeQuery
    if (query == null || query !== this.#query) {
      this.#query = query
      const steps = savepointSteps(textOf(query, connection), this.#spelling)
      this.#steps = steps.filter((step) => step !== undefined)
      this.#next = 0
    }
    const step = this.#steps[this.#next]
    this.#next += 1
    savepoints?.did(step?.tag === tag ? step : { tag })
  }
}
