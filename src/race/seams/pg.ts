import { sessions, type PgPool } from '../../adapters/pg/sessions.ts'
import { libraryOf } from '../../adapters/libraries.ts'
import type { Actor } from '../actor.ts'
import type { Gate } from '../gate.ts'
import type { Lent } from '../loan.ts'
import { observerOf } from '../observer.ts'
import type { Seam } from '../seam.ts'
import type { Answer } from '../seen.ts'
import { promised } from './promised.ts'
import { copyOf, replaced } from './replaced.ts'

type Callback = (error: unknown, ...rest: unknown[]) => void
type Query = (this: Client, ...args: unknown[]) => unknown

/** What is used of a client of `pg`. */
export interface Client {
  readonly processID?: number | null
  readonly _ending?: boolean
  readonly _queryable?: boolean
  getTransactionStatus?(): string | null
  readonly connection?: {
    once(event: string, listener: () => void): unknown
    off(event: string, listener: () => void): unknown
  }
  on(event: 'error', listener: () => void): unknown
  release(error?: Error | boolean): void
  query: Query
}

interface Pool {
  readonly Client: { readonly prototype: Client }
  readonly options: { max: number; min?: number }
  readonly totalCount: number
  readonly idleCount: number
  connect(callback?: Callback): Promise<Client> | undefined
  on(event: 'release', listener: (error: unknown, client: Client) => void): unknown
  off(event: 'release', listener: (error: unknown, client: Client) => void): unknown
  end(): Promise<void>
}

/** A pool of `pg`. */
export const pg: Seam = {
  driver: 'pg',
  is: (db) => libraryOf(db)?.entry === 'pg' && 'totalCount' in db,
  install: (db, gate) => install(db as Pool, gate),
  observe: (db) => {
    const pool = another(db as Pool)
    return observerOf(sessions(pool), ['postgres'], () => pool.end())
  },
  end: async (connection, kill) => {
    const client = connection as Client
    client.on('error', () => {}) // it tells of its end
    await kill()
    try {
      client.release(true)
    } catch {
      // it is back in the pool already, which throws away what has ended
    }
  },
}

/** A pool of one connection to the same place. */
function another(pool: Pool): PgPool & { end(): Promise<void> } {
  const options = Object.assign(copyOf(pool.options), { max: 1, min: 0, Client: pool.Client })
  const own = Reflect.construct(pool.constructor, [options]) as PgPool & { end(): Promise<void> }
  own.on?.('error', () => {})
  return own
}

function install(pool: Pool, gate: Gate): () => void {
  const released = (_: unknown, client: Client): void => gate.giveBack(client)
  pool.on('release', released)
  const putBack = [
    // on the prototype: others may have put a function of their own on the client
    replaced(pool.Client.prototype, 'query', (original) => held(original, gate)),
    replaced(pool, 'connect', (original) => lent(pool, original, gate)),
    () => pool.off('release', released),
  ]
  return () => putBack.forEach((put) => put())
}

function lent(pool: Pool, original: Pool['connect'], gate: Gate): Pool['connect'] {
  return (callback) => {
    const actor = gate.current
    if (actor === undefined) return original.call(pool, callback)
    if (actor.isOver) {
      if (callback === undefined) return Promise.reject(gate.refusal)
      callback(gate.refusal)
      return undefined
    }
    const isStuck = (): boolean => pool.totalCount >= pool.options.max && pool.idleCount === 0
    const came = gate.queue(actor, isStuck)
    const take = (client: Client | undefined): void => {
      if (client !== undefined) gate.lend(client, actor, lentOf(client))
      came()
    }
    if (callback === undefined) {
      return original.call(pool)?.then(
        (client) => {
          take(client)
          return client
        },
        (error: unknown) => {
          came()
          throw error
        },
      )
    }
    return original.call(pool, (error, ...rest) => {
      take(rest[0] as Client | undefined)
      gate.within(actor, () => callback(error, ...rest))
    })
  }
}

/** What is known of a client. */
export function lentOf(client: Client): Lent {
  const { processID } = client
  return { id: processID == null ? undefined : String(processID), isOpen: () => isInTransaction(client) }
}

/** What the server said with its last answer. Undefined with a pg that does not tell. */
function isInTransaction(client: Client): boolean | undefined {
  // one that has ended keeps the last answer, and pools throw it away
  const { _ending: isEnding, _queryable: isQueryable } = client
  if (isEnding === true || isQueryable === false) return false
  const status = client.getTransactionStatus?.()
  return status == null ? undefined : status !== 'I'
}

/** Sends what goes through a client when it is its turn. */
export function held(original: Query, gate: Gate): Query {
  return function query(...args) {
    if (!gate.isHolding(this)) {
      if (gate.current?.isOver === false) gate.doubts.add(elsewhere(gate.current))
      return original.apply(this, args)
    }
    const [config] = args
    const text = textOf(config)
    const values = valuesOf(args)
    if (isSubmittable(config))
      return submitted(this, { gate, text, send: () => original.apply(this, args) }, config)
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      const tell = callback as Callback
      const rest = args.slice(0, -1)
      gate.hold(this, {
        text,
        values,
        send: (end) =>
          original.call(this, ...rest, (error: unknown, answer: unknown) => {
            end(error, answerOf(answer))
            tell(error, answer)
          }),
        refuse: tell,
      })
      return undefined
    }
    return promised(gate, this, { text, values, send: () => original.apply(this, args), answerOf })
  }
}

function elsewhere({ name }: Actor): string {
  return `${name} sent a statement on a connection that it did not take from db: that was not held back`
}

interface Submission {
  readonly gate: Gate
  readonly text: string
  readonly send: () => unknown
}

/** A cursor or a stream: it has ended as soon as the server has sent a part. */
function submitted(client: Client, { gate, text, send }: Submission, query: Submittable): unknown {
  gate.hold(client, {
    text,
    send: (end) => {
      const parts = ['readyForQuery', 'portalSuspended']
      const part = (): void => {
        for (const event of parts) client.connection?.off(event, part)
        end(undefined)
      }
      for (const event of parts) client.connection?.once(event, part)
      send()
    },
    refuse: (why) => query.handleError?.(why, client.connection),
  })
  return query
}

interface Submittable {
  readonly submit: unknown
  handleError?(error: Error, connection: unknown): void
}

function isSubmittable(config: unknown): config is Submittable {
  return typeof config === 'object' && config !== null && 'submit' in config
}

function textOf(config: unknown): string {
  if (typeof config === 'string') return config
  const { text, cursor } = (config ?? {}) as {
    readonly text?: unknown
    readonly cursor?: { readonly text?: unknown }
  }
  return typeof text === 'string' ? text : typeof cursor?.text === 'string' ? cursor.text : 'a query'
}

function valuesOf([config, values]: readonly unknown[]): readonly unknown[] | undefined {
  if (Array.isArray(values)) return values as readonly unknown[]
  const { values: own } = (typeof config === 'object' && config !== null ? config : {}) as {
    readonly values?: unknown
  }
  return Array.isArray(own) ? (own as readonly unknown[]) : undefined
}

/** Of several statements in one text the last one's. */
function answerOf(answer: unknown): Answer {
  const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
  const { rows, rowCount, command } = (last ?? {}) as Readonly<Record<string, unknown>>
  return command === 'SELECT' || (Array.isArray(rows) && rows.length > 0)
    ? { rows }
    : { count: rowCount ?? undefined }
}
