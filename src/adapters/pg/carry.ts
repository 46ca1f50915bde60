import type { HeadReader } from './head.ts'
import type { QueryArguments, Submittable } from './query.ts'
import { spelling } from './body.ts'
import { statementsOf } from '../sql-text.ts'
import { isPlain } from '../statement-fate.ts'

/** What is used of a client to let the beginning of a transaction travel with the first statement. */
export interface RidingClient {
  readonly connection?: object
  readonly connectionParameters?: { readonly query_timeout?: unknown }
  readonly binary?: unknown
  query(...args: QueryArguments): unknown
}

export interface PgStream {
  cork(): void
  uncork(): void
  write(bytes: Uint8Array): unknown
}

type Callback = (error: Error | null, result?: unknown) => void

/** A query of `pg`'s own class. */
export interface OwnQuery extends HeadReader {
  readonly text?: unknown
  readonly name?: unknown
  readonly rows?: unknown
  readonly values?: unknown
  readonly binary?: unknown
  callback?: Callback
  /** What travels ahead of it, for those who look at what is sent. */
  ahead?: readonly string[]
  submit(connection: unknown): Error | null
  requiresPreparation(): boolean
  handleReadyForQuery(connection: unknown): void
}

type OwnQueryClass = new (...args: QueryArguments) => OwnQuery

/** What is needed of a client whose beginnings travel with statements. */
export interface Way {
  readonly stream: PgStream
  readonly Query: OwnQueryClass
}

export function wayOf(client: RidingClient): Way | undefined {
  const { Query } = client.constructor as { readonly Query?: OwnQueryClass }
  const { stream } = (client.connection ?? {}) as { readonly stream?: PgStream }
  return Query === undefined || stream === undefined ? undefined : { Query, stream }
}

/**
 * Whether a beginning can travel with a statement on this client as if it had come by itself. What others have put in
 * the place of `query`, for a log or a trace, may make another query of the one it is given; and a query that took too long
 * is answered by the driver, which says nothing about its beginning.
 */
export function canRide(client: RidingClient): boolean {
  if (wayOf(client) === undefined || Boolean(client.connectionParameters?.query_timeout)) return false
  // a view has methods of its own, and the client's prototype
  const { query } = Object.getPrototypeOf(client) as { readonly query: Parameters<typeof isOwn>[0] }
  return !Object.hasOwn(client, 'query') && isOwn(query)
}

const own = new WeakMap<object, boolean>()

/** Whether the method is `pg`'s, which only its text tells. */
function isOwn(query: (...args: never[]) => unknown): boolean {
  const known = own.get(query) ?? query.toString().includes('passed a null or undefined query')
  own.set(query, known)
  return known
}

/**
 * A text of several statements has only the simple protocol, which knows no skipping. A name has to be parsed first,
 * and of which statement the server says so is not to be told. And what the simple protocol would answer otherwise, or
 * the driver may refuse, is not to be the beginning's failure.
 */
export function mayCarry(client: RidingClient, query: OwnQuery): boolean {
  const { text, name, rows, values, binary } = query
  if (typeof text !== 'string' || text === '' || Boolean(name) || Boolean(rows)) return false
  if (copies(text) || !areSafe(values)) return false
  if (query.requiresPreparation()) return true
  return !(Boolean(binary) || Boolean(client.binary) || /;.|\$\d/s.test(text.trimEnd()))
}

/** `pg` reads it when it is given it: whoever made it may change it for the next query. */
export function asItIs(config: unknown): unknown {
  if (typeof config !== 'object' || config === null) return config
  return Object.assign(Object.create(config) as object, config)
}

export function hasOwnTimeout(config: unknown): boolean {
  return typeof config === 'object' && config !== null && 'query_timeout' in config
}

/** While it takes rows, the server overlooks the end of the message behind which it would go on. */
function copies(text: string): boolean {
  return !isPlain(text, true) && /^copy\b/.test(statementsOf(text, spelling, 1)[0] ?? '')
}

/** Whether the driver makes a text of each of them without fail: of an object nobody knows. */
function areSafe(values: unknown): boolean {
  if (values == null) return true
  return Array.isArray(values) && values.every(isSafe)
}

function isSafe(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSafe)
  if (typeof value === 'object') return value === null || value instanceof Date || ArrayBuffer.isView(value)
  return typeof value !== 'function' && typeof value !== 'symbol'
}

/** Notes that a cursor, or that of a stream, was closed: before it was sent it knows of no connection, and does nothing. */
export function noteClose(query: Submittable): () => boolean {
  const cursor = (query.cursor ?? query) as { close?: (...args: unknown[]) => unknown }
  const { close } = cursor
  let isClosed = false
  if (close !== undefined)
    cursor.close = (...args) => {
      isClosed = true
      return close.apply(cursor, args)
    }
  return () => {
    if (close !== undefined) cursor.close = close
    return isClosed
  }
}
