import type { Value } from '../../core/statement.ts'
import type { Streams } from '../mysql2/streams.ts'
import type { Callback, Watcher, Wire } from '../mysql2/wire.ts'
import type { AddCommand, Command, CoreConnection } from './core.ts'

/** What a query says of itself, whatever the pool was told. */
export interface MariadbQuery {
  readonly sql: string
  readonly values?: unknown
}

interface Asking {
  query(query: string | MariadbQuery): Promise<unknown>
}

export function wireOf(core: CoreConnection): Omit<Wire<Command>, 'query'> {
  let original: AddCommand = core.addCommand
  let own: AddCommand | undefined
  return {
    takesSeveral: takesSeveral(core),
    textOf: ({ sql }) => sql,
    paramsOf: ({ initialValues }) => initialValues,
    kindOf,
    attach: (take) => {
      own ??= (command) => void take(command)
      if (core.addCommand === own) return
      original = core.addCommand
      core.addCommand = own
    },
    // the driver's importFile exchanges the method for a while, and expects to have its own
    detach: () => {
      if (core.addCommand === own) core.addCommand = original
    },
    add: (command) => {
      const add = core.addCommand === own ? original : core.addCommand
      add.call(core, command, kindOf(command) !== 'closing')
    },
    refuse,
    watch,
    watchStream,
    // told with every answer, also with that of a SELECT
    statusOf: () => core.info.status,
    reading,
    isUnsent,
  }
}

/** Sends by the connection of promises, whose command is there at once. */
export function queryBy(connection: Asking): Wire<Command>['query'] {
  return (query, callback) => void tell(connection.query(query as string | MariadbQuery), callback)
}

async function tell(asked: Promise<unknown>, callback: Callback): Promise<void> {
  let answer: unknown
  try {
    answer = await asked
  } catch (error) {
    return callback(error as Error)
  }
  callback(null, answer)
}

/** A flag of the protocol: https://mariadb.com/kb/en/connection/#capabilities */
const MULTI_STATEMENTS = 1n << 16n

function takesSeveral({ info }: CoreConnection): boolean {
  return info.clientCapabilities === undefined || (info.clientCapabilities & MULTI_STATEMENTS) !== 0n
}

/** By what each has: in the build for `require` the classes have other names. */
function kindOf(command: Command): 'closing' | 'ping' | 'other' {
  if ('readPingResponsePacket' in command) return 'ping'
  return 'prepare' in command && command.sql === undefined ? 'closing' : 'other'
}

/** Not by the driver's own way, which makes an error of its own of each under the option `trace`. */
function refuse(command: Command, why: Error): void {
  const { reject } = command
  command.onPacketReceive = null
  command.resolve = null
  command.reject = null
  // a stream is to be in somebody's hands by then
  process.nextTick(() => {
    reject?.(why)
    command.emit('end', why)
  })
}

function watch(command: Command, { failed, answered, ended }: Watcher): void {
  const { resolve, reject } = command
  command.resolve = (answer) => {
    answered(answer)
    resolve?.(answer)
  }
  command.reject = (why) => {
    failed(why)
    reject?.(why)
  }
  // the driver calls one of the two only in the next tick, and has planned that before it tells the end
  command.once('end', () => process.nextTick(ended))
}

const noSocket = { pause: () => {}, resume: () => {} }

function watchStream(command: Command, streams: () => Streams): void {
  const stream = command.inStream
  if (stream === undefined) return
  command.socket ??= noSocket
  const give = command.handleNewRows.bind(command)
  command.handleNewRows = (row) => {
    give(row)
    streams().took(stream)
  }
  let isRead = false
  // One that is left in the middle of a loop is destroyed, and takes no row then: that would stop the connection.
  stream.once('close', () => {
    if (!isRead) stream.close()
  })
  command.once('end', () => {
    isRead = true
    streams().ended(stream)
  })
}

/** How values are read and sent, for a statement of our own. */
const ownForm = {
  rowsAsArray: false,
  nestTables: false,
  metaAsArray: false,
  namedPlaceholders: false,
  checkDuplicate: false,
  dateStrings: false,
  supportBigNumbers: false,
  bigNumberStrings: false,
  bigIntAsNumber: false,
  insertIdAsNumber: false,
  decimalAsNumber: false,
  checkNumberRange: false,
  bitOneIsBoolean: true,
  autoJsonMap: true,
  jsonStrings: false,
  // the pool's limit for all statements: our own have theirs
  timeout: 0,
  typeCast,
}

interface Column {
  readonly type: string
  long(): bigint | null
}

/** A whole number that JavaScript cannot hold comes as text. */
function typeCast(column: Column, next: () => unknown): unknown {
  if (column.type !== 'BIGINT') return next()
  const value = column.long()
  if (value === null) return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/**
 * For `query` and not `execute`: not every statement can be prepared (START TRANSACTION), and the first use of one would
 * cost one more round trip.
 */
function reading(sql: string, params: readonly Value[]): MariadbQuery {
  const query = { ...ownForm, sql }
  return params.length === 0 ? query : { ...query, values: params.map(toMariadb) }
}

function toMariadb(value: Value): unknown {
  return value instanceof Uint8Array ? Buffer.from(value) : value
}

const CONNECTION_CLOSED = 45013

/** The driver's number for what it has not sent. */
function isUnsent(error: unknown): boolean {
  return error instanceof Error && (error as { readonly errno?: unknown }).errno === CONNECTION_CLOSED
}
