import { setImmediate as nextRound } from 'node:timers/promises'

import { onceIdle } from '../pg/end-backend.ts'
import type { Backend, PostgresJsConnection, PostgresJsQuery, PostgresJsSql } from './driver.ts'
import { isQuery, unknownPostgresJs, writtenAtOnce } from './driver.ts'

/**
 * One connection that is taken out of the pool, in the way in which postgres.js does it for its own `begin`.
 *
 * Its `reserve` gives a function only: a statement that is sent after the connection has ended is never answered, and
 * ends the process. Nor does it ever give one where `fetch_types` is false. Here every statement is told of the end.
 */
export class Pinned {
  readonly backend: Backend
  whyLost: Error | undefined
  readonly #sql: PostgresJsSql
  readonly #connection: PostgresJsConnection
  /** What waits until the server has answered what was sent before it. */
  readonly #line: PostgresJsQuery[] = []
  /** What is sent or waits. */
  readonly #unanswered = new Set<PostgresJsQuery>()
  readonly #listeners = new Set<(why: Error) => void>()
  #mayGo = true
  /** Set when it is about to be closed. */
  #onIdle: (() => void) | undefined
  /** Why nothing more is sent. */
  #over: Error | undefined

  constructor(sql: PostgresJsSql, connection: PostgresJsConnection, ping: PostgresJsQuery) {
    this.#sql = sql
    this.#connection = connection
    this.backend = { ...(ping.state ?? { pid: null, secret: null }) }
    connection.reserved = Object.assign(this.#goOn, { release: true })
    whenClosed(connection, this.#lose)
  }

  /** Nothing more is sent on it. */
  get isOver(): boolean {
    return this.#over !== undefined
  }

  /** Rejects the query by itself where the connection has ended. */
  send(query: PostgresJsQuery): void {
    if (this.#over !== undefined) return query.reject(this.#over)
    this.#unanswered.add(query)
    if (this.#mayGo) this.#go(query)
    else this.#line.push(query)
  }

  /** The query has been answered. */
  answered(query: PostgresJsQuery): void {
    this.#unanswered.delete(query)
  }

  onLost(tell: (why: Error) => void): () => void {
    if (this.whyLost !== undefined) tell(this.whyLost)
    else this.#listeners.add(tell)
    return () => void this.#listeners.delete(tell)
  }

  /** The pool takes it as free when the server has answered something and nobody has it. */
  release(): void {
    if (this.#over !== undefined) return
    this.#over = new Error('the connection was given back')
    this.#connection.reserved = null
    whenClosed(this.#connection, null)
    this.#connection.execute(rowlessQuery(this.#sql))
  }

  /** Until the server has closed it: then the pool has it again. */
  async destroy(why: Error): Promise<void> {
    if (this.#over !== undefined) return
    let isClosed = false
    const closed = new Promise<void>((resolve) => {
      whenClosed(this.#connection, () => {
        isClosed = true
        resolve()
      })
    })
    const isIdle = this.#mayGo
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve))
    this.#end(why)
    return onceIdle(isIdle ? undefined : Promise.race([idle, closed]), async () => {
      // postgres.js writes in the next round; what it had not written then, its next connection would never get rid of
      await nextRound()
      if (!isClosed) this.#connection.terminate()
      return closed
    })
  }

  readonly #goOn = (): void => {
    this.#mayGo = true
    while (this.#mayGo && this.#line.length > 0) this.#go(this.#line.shift())
    this.#onIdle?.()
  }

  /** One at a time: of several, postgres.js tells another one of a value that it cannot send, and mixes up the answers. */
  #go(query: PostgresJsQuery | undefined): void {
    // one that was cancelled before has been answered, and is not sent
    if (query === undefined || Boolean(query.cancelled)) return
    this.#mayGo = false
    this.#connection.execute(query)
  }

  readonly #lose = (why: Error): void => {
    this.whyLost = why
    this.#end(why)
    for (const tell of this.#listeners) tell(why)
    this.#listeners.clear()
  }

  #end(why: Error): void {
    this.#over = why
    for (const query of this.#unanswered) query.reject(why)
    this.#unanswered.clear()
    this.#line.length = 0
  }
}

/**
 * Takes a connection out of the pool, with a statement without rows that nobody waits for: what comes next is sent
 * together with it.
 */
export async function pin(sql: PostgresJsSql): Promise<Pinned> {
  for (let told = 0; ;) {
    const pinned = await pinOnce(sql).catch((error: unknown) => {
      // what the server told a connection that it ended, postgres.js tells the next user of the one in its place
      told += 1
      if (isTermination(error) && told <= sql.options.max) return undefined
      throw error
    })
    if (pinned !== undefined) return pinned
  }
}

/** Gives undefined where the statement was sent behind so many others that postgres.js did not say where. */
function pinOnce(sql: PostgresJsSql): Promise<Pinned | undefined> {
  return new Promise((resolve, reject) => {
    let pinned: Pinned | undefined
    const query = rowlessQuery(sql, (connection) => {
      mustBeKnown(connection)
      pinned = new Pinned(sql, connection, query)
      // behind others it would be waited for as if it were the server that does not answer
      if (query.active) resolve(pinned)
      return false
    })
    query.executed = true
    query.then(() => resolve(pinned), reject)
    query.handler(query)
  })
}

/**
 * Not an empty text. When the server ends a connection between a row and the end of its statement, postgres.js 3.4 leaves
 * as many places free before the rows of the next statement, until one is said to be complete: an empty text never is.
 */
const rowless = writtenAtOnce('SELECT 1 WHERE false')

function rowlessQuery(
  sql: PostgresJsSql,
  onexecute: (connection: PostgresJsConnection) => boolean = () => true,
): PostgresJsQuery {
  const query = sql.unsafe(rowless, [], { onexecute })
  if (!isQuery(query)) throw unknownPostgresJs('its statements are not what they were')
  query.executed = true
  query.catch(() => {}) // whoever has the connection hears of its end
  return query
}

/** There is one place for it, which `begin` of postgres.js uses too. */
function whenClosed(connection: PostgresJsConnection, tell: PostgresJsConnection['onclose']): void {
  Object.assign(connection, { onclose: tell })
}

function mustBeKnown({ execute, terminate }: PostgresJsConnection): void {
  if (typeof execute !== 'function' || typeof terminate !== 'function')
    throw unknownPostgresJs('its connections are not what they were')
}

function isTermination(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57P01'
}
