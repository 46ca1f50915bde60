import { libraryOf } from '../../adapters/libraries.ts'
import { sessions, type Mysql2Pool } from '../../adapters/mysql2/sessions.ts'
import type { Gate } from '../gate.ts'
import type { Lent } from '../loan.ts'
import { observerOf } from '../observer.ts'
import type { Seam } from '../seam.ts'
import type { Answer } from '../seen.ts'
import { countIn } from './promised.ts'
import { copyOf, replaced } from './replaced.ts'

type Callback = (error: unknown, ...rest: unknown[]) => void

/** What the driver makes of a query. */
interface Command {
  readonly sql: string
  readonly values?: readonly unknown[]
  onResult?: Callback
  once(event: 'error', listener: (error: unknown) => void): unknown
  once(event: 'end', listener: () => void): unknown
  emit(event: 'error', error: Error): unknown
}

/** What the driver makes of a statement that is prepared. */
interface Prepared {
  execute(values: unknown, callback: Callback): unknown
}

/** The connection that answers by callback, beneath the one of promises. */
export interface Connection {
  readonly threadId?: number
  readonly config: unknown
  query(sql: unknown, values?: unknown, callback?: unknown): unknown
  execute(sql: unknown, values?: unknown, callback?: unknown): unknown
  prepare(sql: unknown, callback: Callback): unknown
  on(event: 'error', listener: () => void): unknown
  destroy(): void
}

interface ConnectionClass {
  createQuery(sql: unknown, values: unknown, callback: unknown, config: unknown): Command
}

interface Pool {
  readonly config: { connectionLimit: number; connectionConfig: object; waitForConnections?: boolean }
  readonly _allConnections?: { readonly length: number }
  readonly _freeConnections?: { readonly length: number }
  getConnection(callback: Callback): void
  on(event: 'release', listener: (connection: Connection) => void): unknown
  off(event: 'release', listener: (connection: Connection) => void): unknown
  promise(): Mysql2Pool & { end(): Promise<void> }
}

/** A pool of `mysql2`, with promises or with callbacks. */
export const mysql2: Seam = {
  driver: 'mysql2',
  is: (db) => libraryOf(db)?.entry === 'mysql2',
  install: (db, gate) => install(coreOf(db), gate),
  observe: (db) => {
    const pool = another(coreOf(db))
    return observerOf(sessions(pool), ['mysql', 'mariadb'], () => pool.end())
  },
  end: async (connection, kill) => {
    const core = connection as Connection
    core.on('error', () => {}) // it tells of its end
    await kill()
    core.destroy()
  },
}

function coreOf(db: object): Pool {
  return 'pool' in db ? (db.pool as Pool) : (db as Pool)
}

/** A pool of one connection to the same place. */
function another(pool: Pool): Mysql2Pool & { end(): Promise<void> } {
  const { connectionConfig } = pool.config
  const config = Object.assign(copyOf(pool.config), {
    connectionLimit: 1,
    waitForConnections: true,
    connectionConfig: copyOf(connectionConfig),
  })
  return (Reflect.construct(pool.constructor, [{ config }]) as Pool).promise()
}

function install(pool: Pool, gate: Gate): () => void {
  const putBack: (() => void)[] = []
  const known = new WeakSet<Connection>()
  const released = (connection: Connection): void => gate.giveBack(connection)
  const watch = (connection: Connection): void => {
    if (known.has(connection)) return
    known.add(connection)
    putBack.push(watchConnection(connection, gate))
  }
  pool.on('release', released)
  putBack.push(
    replaced(pool, 'getConnection', (original) => lent(pool, original, { gate, watch })),
    () => pool.off('release', released),
  )
  return () => putBack.forEach((put) => put())
}

/** Sends what goes through a connection when it is its turn. Gives what puts it back. */
export function watchConnection(connection: Connection, gate: Gate): () => void {
  const putBack = [
    replaced(connection, 'query', (original) => heldQuery(connection, original, gate)),
    replaced(connection, 'execute', (original) => heldExecute(connection, original, gate)),
    replaced(connection, 'prepare', (original) => prepared(connection, original, gate)),
  ]
  return () => putBack.forEach((put) => put())
}

/** A statement that was prepared is run past the connection's own methods. */
function prepared(
  connection: Connection,
  original: Connection['prepare'],
  gate: Gate,
): Connection['prepare'] {
  return (sql, callback) =>
    original.call(connection, sql, (error, ...rest) => {
      const statement = rest[0] as Prepared | undefined
      // the driver keeps those of a connection, and gives them again
      if (statement !== undefined && !Object.hasOwn(statement, 'execute')) {
        const text = typeof sql === 'string' ? sql : (sql as Command).sql
        replaced(statement, 'execute', (execute) =>
          heldStatement(execute.bind(statement), gate, { connection, text }),
        )
      }
      callback(error, ...rest)
    })
}

function heldStatement(
  execute: Prepared['execute'],
  gate: Gate,
  { connection, text }: { readonly connection: Connection; readonly text: string },
): Prepared['execute'] {
  return (values, callback) => {
    if (!gate.isHolding(connection)) return execute(values, callback)
    gate.hold(connection, {
      text,
      values: Array.isArray(values) ? values : undefined,
      send: (end) =>
        void execute(values, (error, ...answer) => {
          end(error, answerOf(text, answer[0]))
          callback(error, ...answer)
        }),
      refuse: callback,
    })
    return undefined
  }
}

/** What is known of a connection. */
export function lentOf({ threadId }: Connection): Lent {
  return { id: threadId === undefined ? undefined : String(threadId) }
}

interface Watching {
  readonly gate: Gate
  readonly watch: (connection: Connection) => void
}

function lent(pool: Pool, original: Pool['getConnection'], { gate, watch }: Watching): Pool['getConnection'] {
  return (callback) => {
    const actor = gate.current
    if (actor === undefined) return original.call(pool, callback)
    if (actor.isOver) return callback(gate.refusal)
    const came = gate.queue(actor, () => isFull(pool))
    return original.call(pool, (error, ...rest) => {
      const connection = rest[0] as Connection | undefined
      if (connection !== undefined) {
        watch(connection)
        gate.lend(connection, actor, lentOf(connection))
      }
      came()
      gate.within(actor, () => callback(error, ...rest))
    })
  }
}

function isFull({
  config: { connectionLimit },
  _allConnections: all,
  _freeConnections: free,
}: Pool): boolean {
  return connectionLimit > 0 && all !== undefined && all.length >= connectionLimit && free?.length === 0
}

function heldQuery(connection: Connection, original: Connection['query'], gate: Gate): Connection['query'] {
  return (sql, values, callback) => {
    if (!gate.isHolding(connection)) return original.call(connection, sql, values, callback)
    const command = isCommand(sql)
      ? sql
      : (connection.constructor as unknown as ConnectionClass).createQuery(
          sql,
          values,
          callback,
          connection.config,
        )
    const tell = command.onResult
    gate.hold(connection, {
      text: command.sql,
      values: Array.isArray(command.values) ? command.values : undefined,
      send: (end) => {
        if (tell === undefined) watchEvents(command, end)
        else
          command.onResult = (error, ...rest) => {
            end(error, answerOf(command.sql, rest[0]))
            tell(error, ...rest)
          }
        original.call(connection, command)
      },
      refuse: (why) => (tell === undefined ? command.emit('error', why) : tell(why)),
    })
    return command
  }
}

/** One without a callback, whose rows are read as they come. */
function watchEvents(command: Command, end: (error: unknown) => void): void {
  let failure: unknown
  command.once('error', (error) => (failure = error))
  command.once('end', () => end(failure))
}

function heldExecute(
  connection: Connection,
  original: Connection['execute'],
  gate: Gate,
): Connection['execute'] {
  return (...args) => {
    const callback = args.findLast((arg) => typeof arg === 'function') as Callback | undefined
    if (!gate.isHolding(connection) || callback === undefined) return original.apply(connection, args)
    const [sql, values] = args
    const text = typeof sql === 'string' ? sql : (sql as Command).sql
    const rest = args.slice(0, args.indexOf(callback))
    gate.hold(connection, {
      text,
      values: Array.isArray(values) ? values : undefined,
      send: (end) => {
        const tell: Callback = (error, ...answer) => {
          end(error, answerOf(text, answer[0]))
          callback(error, ...answer)
        }
        Reflect.apply(original, connection, [...rest, tell])
      },
      refuse: callback,
    })
    return undefined
  }
}

function isCommand(sql: unknown): sql is Command {
  return typeof sql === 'object' && sql !== null && sql.constructor.name === 'Query'
}

function answerOf(text: string, answer: unknown): Answer {
  if (Array.isArray(answer)) return { rows: answer }
  return countIn(text, (answer as { readonly affectedRows?: unknown } | undefined)?.affectedRows)
}
