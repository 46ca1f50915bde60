import type { Value } from '../../core/statement.ts'
import { isQuery, unknownPostgresJs, type PostgresJsResult, type PostgresJsSql } from './driver.ts'
import type { Pinned } from './pinned.ts'
import { raw } from './values.ts'

/** Sends the statements of Holdfast itself on one connection. */
export class Own {
  readonly #sql: PostgresJsSql
  readonly #pinned: Pinned

  constructor(sql: PostgresJsSql, pinned: Pinned) {
    this.#sql = sql
    this.#pinned = pinned
  }

  get whyLost(): Error | undefined {
    return this.#pinned.whyLost
  }

  /** Without values one text may hold several statements: then there is a result for each. */
  async ask(text: string, params: readonly Value[] = [], prepare = false): Promise<unknown> {
    const values = params.map((value) => raw(this.#sql.typed, value)) as never[]
    const query = this.#sql.unsafe(text, values, {
      prepare,
      simple: params.length === 0 && !prepare,
    })
    if (!isQuery(query)) throw unknownPostgresJs('its statements are not what they were')
    // nothing is written by the types that the server finds out, so that one round trip is enough
    void Object.defineProperty(query, 'describeFirst', { get: () => false, set: () => {} })
    query.handler = (own) => this.#pinned.send(own)
    try {
      return await query
    } finally {
      this.#pinned.answered(query)
    }
  }
}

/** The last one, where a text has several statements. */
export function lastOf(answer: unknown): PostgresJsResult {
  const results = answer as PostgresJsResult | readonly PostgresJsResult[]
  return 'command' in results ? results : (results.at(-1) ?? emptyResult)
}

export function commandOf(answer: unknown): string | null {
  return lastOf(answer).command
}

const emptyResult: PostgresJsResult = Object.assign([], { command: null })
