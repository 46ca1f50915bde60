import type { Value } from '../../core/statement.ts'
import { sendable } from './sendable.ts'
import type { ServerStatus } from './server-status.ts'
import type { RowStream, Streams } from './streams.ts'
import type { Callback, Watcher, Wire } from './wire.ts'

/** The connection that answers by callback, beneath the one of promises. */
export interface CoreConnection {
  readonly config?: { readonly clientFlags?: number }
  query(query: unknown, callback: Callback): unknown
  addCommand(command: Command): Command
}

/** What `mysql2` makes of each statement, and puts into its queue. */
export interface Command {
  onResult?: (error: Error | null, ...rest: unknown[]) => void
  readonly sql?: string
  /** The text, of a command that prepares it. */
  readonly query?: string
  /** What was prepared before. */
  readonly statement?: { readonly query?: string }
  /** Of one that runs it. */
  readonly parameters?: unknown
  stream?: (options?: object) => RowStream
  on(event: 'result', listener: () => void): unknown
  once(event: 'end', listener: () => void): unknown
  once(event: 'error', listener: (error: Error) => void): unknown
  emit(event: 'end'): unknown
  emit(event: 'error', error: Error): unknown
}

/** A statement as `mysql2` takes it. */
export interface Mysql2Query {
  sql: string
  values?: unknown[]
  rowsAsArray: boolean
  typeCast: boolean
  nestTables: boolean
  supportBigNumbers: boolean
}

export function wireOf(core: CoreConnection): Wire<Command> {
  const original = beneath(core)
  let own: CoreConnection['addCommand'] | undefined
  return {
    takesSeveral: takesSeveral(core),
    textOf,
    paramsOf: ({ parameters }) => parameters,
    kindOf: (command) => kinds[command.constructor.name] ?? 'other',
    // for the life of the connection: the driver itself replaces the method when the connection has ended
    attach: (take) => {
      if (own === undefined) core.addCommand = own = take
    },
    add: (command) => void (core.addCommand === own ? original(command) : core.addCommand(command)),
    refuse,
    query: (query, callback) => void core.query(query, callback),
    watch,
    watchStream,
    statusOf,
    reading,
    isUnsent,
  }
}

/**
 * The driver's own method, looked up with each command: what replaces it in the driver's class, as `holdfast/race` does, is
 * beneath the line, and sees what is really sent, and when.
 */
function beneath(core: CoreConnection): (command: Command) => unknown {
  // that of a connection which has ended already
  if (Object.hasOwn(core, 'addCommand')) return core.addCommand.bind(core)
  const driver = Object.getPrototypeOf(core) as CoreConnection
  return (command) => driver.addCommand.call(core, command)
}

export function textOf({ sql, query, statement }: Command): string | undefined {
  return sql ?? query ?? statement?.query
}

/** A flag of the protocol: https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html */
const MULTI_STATEMENTS = 1 << 16

/** What was told to the server: `flags` of the pool can say other than its `multipleStatements`. */
function takesSeveral({ config }: CoreConnection): boolean {
  return config?.clientFlags === undefined || (config.clientFlags & MULTI_STATEMENTS) !== 0
}

const kinds: Readonly<Record<string, 'closing' | 'ping'>> = { CloseStatement: 'closing', Ping: 'ping' }

function refuse(command: Command, why: Error): void {
  if (command.onResult !== undefined) command.onResult(why)
  else {
    // nobody is told how the end of a prepared statement went
    if (kinds[command.constructor.name] === 'closing') command.once('error', () => {})
    process.nextTick(() => {
      command.emit('error', why)
      command.emit('end')
    })
  }
}

function watch(command: Command, { failed, answered, ended }: Watcher): void {
  const tell = command.onResult
  if (tell === undefined) command.once('error', failed)
  else
    command.onResult = (why, ...rest) => {
      if (why != null) failed(why)
      else answered(rest[0])
      tell(why, ...rest)
    }
  command.once('end', ended)
}

function watchStream(command: Command, streams: () => Streams): void {
  const make = command.onResult === undefined ? command.stream?.bind(command) : undefined
  if (make === undefined) return
  command.stream = (options) => {
    const stream = make(options)
    // behind the listener of the stream itself, which has taken the row
    command.on('result', () => streams().took(stream))
    command.once('end', () => streams().ended(stream))
    return stream
  }
}

/** Comes with the answer to every statement that gives no rows. */
function statusOf(answer: unknown): ServerStatus {
  // of several answers, as those of a procedure, the last one counts
  const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
  if (last?.constructor?.name !== 'ResultSetHeader') return undefined
  return (last as { readonly serverStatus?: number }).serverStatus
}

/**
 * One without rows is given as its text: what the driver does with an object takes longer than to send it.
 *
 * For `query` and not `execute`: not every statement can be prepared (START TRANSACTION), numbers would be sent as
 * DOUBLE, which SET refuses, and the first use of a statement would cost one more round trip.
 */
function reading(sql: string, params: readonly Value[]): Mysql2Query {
  // a whole number that JavaScript cannot hold comes as text
  const query: Mysql2Query = {
    sql,
    rowsAsArray: false,
    typeCast: true,
    nestTables: false,
    supportBigNumbers: true,
  }
  if (params.length > 0) query.values = params.map(toMysql)
  return query
}

/**
 * Text is quoted here, the rest by the driver. The driver escapes with backslashes: under the server's mode
 * NO_BACKSLASH_ESCAPES, a quote in a value would end the value. This way is right under every mode.
 */
export function toMysql(value: Value): unknown {
  if (typeof value !== 'string') return sendable(value)
  const quoted = value.includes('\\')
    ? `_utf8mb4 0x${Buffer.from(value, 'utf8').toString('hex')}`
    : `'${value.replaceAll("'", "''")}'`
  return { toSqlString: () => quoted }
}

/** The driver's words, without a code (3.24), for what it has not sent. */
export function isUnsent(error: unknown): boolean {
  return (
    error instanceof Error && error.message === "Can't add new command when connection is in closed state"
  )
}
