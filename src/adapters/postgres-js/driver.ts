import { LockUsageError } from '../../core/errors.ts'

/** What postgres.js gives for a statement. */
export interface PostgresJsResult extends ReadonlyArray<Readonly<Record<string, unknown>>> {
  /** The server's word for what was done, as `COMMIT`. Null where it said none. */
  readonly command: string | null
}

/** What the server calls a connection. */
export interface Backend {
  readonly pid: number | null
  readonly secret: number | null
}

/** What is used of a query of postgres.js, which is sent when somebody first asks for its answer. */
export interface PostgresJsQuery extends Promise<unknown> {
  readonly strings: readonly string[]
  readonly args: readonly unknown[]
  readonly options: object
  /** Whether the server works on it now. */
  readonly active: boolean
  readonly cancelled: unknown
  /** Whose connection it is on. */
  readonly state: Backend | null
  executed: boolean
  handler: (query: PostgresJsQuery) => void
  resolve: (answer: unknown) => void
  reject: (error: unknown) => void
  /** Takes the next piece of a cursor. What it gives is waited for. */
  cursorFn?: (rows: unknown) => unknown
}

/** What is used of a connection of postgres.js, as it hands it to its own `begin`. */
export interface PostgresJsConnection {
  execute: (query: PostgresJsQuery) => unknown
  terminate: () => void
  /** Called when nothing runs on it any more. The pool lends it to nobody while there is one. */
  reserved: (Reserved & (() => void)) | null
  onclose?: ((why: Error) => unknown) | null
}

interface Reserved {
  /** Its owner says when it is free. Without, it is so as soon as no transaction is open on it. */
  release: boolean
}

/** How a statement is sent that is not a template. */
export interface UnsafeOptions {
  /** Whether it is sent as text alone, without parameters. */
  readonly simple?: boolean
  /** Whether the statement is prepared. */
  readonly prepare?: boolean
  /** Handed the connection when the query is written to it; gives whether more may be. */
  readonly onexecute?: (connection: PostgresJsConnection) => boolean
}

/** What is used of the function that `postgres()` gives. */
export interface PostgresJsSql {
  readonly options: PostgresJsOptions
  readonly CLOSE: object
  readonly unsafe: (text: string, values?: never[], options?: UnsafeOptions) => unknown
  readonly typed: (value: unknown, type: number) => unknown
}

/** What is used of its options, as postgres.js has read them. */
export interface PostgresJsOptions {
  /** How many connections the pool opens at most. */
  readonly max: number
  /** The server's host names, one for each port. */
  readonly host: readonly string[] | string
  /** The ports, one for each host. */
  readonly port: readonly number[] | number
  /** The socket, where the server is reached through one. */
  readonly path?: string | boolean | undefined
  /** By the number of a type. */
  readonly parsers?: Readonly<Record<number, ((text: string) => unknown) | undefined>>
  /** How postgres.js renames columns and changes values. */
  readonly transform: {
    readonly column: { readonly from?: unknown }
    readonly value: { readonly from?: unknown }
    readonly row: { readonly from?: unknown }
  }
}

/** For what is not there of the insides of postgres.js that Holdfast relies on. */
export function unknownPostgresJs(what: string): LockUsageError {
  return new LockUsageError('sql', `${what}: postgres 3.4 is known to work`)
}

/** Work may give a list of queries, as to `begin` of postgres.js: nobody has asked for their answers, so none was sent. */
export async function allOf<T>(result: T): Promise<T> {
  return Array.isArray(result) && result.some(isQuery) ? ((await Promise.all<unknown>(result)) as T) : result
}

/** From this size on, postgres.js writes a message at once. */
const atOnce = 1024

/**
 * The same statement, long enough to be written at once: for those that are sent when a connection has just ended.
 *
 * A shorter one is written in the next round of the event loop. When the connection ends before that, postgres.js 3.4
 * keeps the message and believes that it is about to be written: nothing is ever sent on the connection in its place.
 */
export function writtenAtOnce(text: string): string {
  return text.length < atOnce ? `${text}\n${' '.repeat(atOnce - text.length)}` : text
}

export function isQuery(value: unknown): value is PostgresJsQuery {
  return value instanceof Promise && 'handler' in value && 'strings' in value
}
