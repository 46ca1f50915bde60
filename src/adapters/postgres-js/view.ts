import { LockUsageError } from '../../core/errors.ts'
import { refusedEnding, type Method } from '../transaction-view.ts'
import type { PostgresJsBody } from './body.ts'
import { isQuery, type PostgresJsSql } from './driver.ts'
import { savepointOn } from './savepoint.ts'

/** What would leave the transaction: another connection, or an end that only the call may bring about. */
const elsewhere = new Set<PropertyKey>(['begin', 'reserve', 'listen', 'subscribe', 'largeObject', 'prepare'])

/** The application's own `sql`, whose queries go to the connection of one transaction. */
export function viewOn(sql: PostgresJsSql, body: PostgresJsBody): object {
  const mine = (value: unknown): unknown => (isQuery(value) ? body.take(value) : value)
  const own: Readonly<Record<PropertyKey, Method>> = {
    unsafe: (...args: never[]) => mine(Reflect.apply(sql.unsafe, sql, args)),
    file: (path: string | URL, ...args: unknown[]) => fromFile(sql, body, [path, ...args]),
    notify: async (channel: string, payload: unknown) =>
      mine(sql.unsafe('select pg_notify($1, $2)', [channel, String(payload)] as never[])),
  }
  const view: object = new Proxy(sql, {
    apply: (target, _, args: unknown[]) =>
      mine(Reflect.apply(target as unknown as Method, undefined, args as never[])),
    get: (target, name) => {
      if (name === 'savepoint') return savepoint
      if (Object.hasOwn(own, name)) return own[name]
      if (elsewhere.has(name)) return refuseElsewhere(name)
      return refusedEnding(name) ?? (Reflect.get(target, name, target) as unknown)
    },
  })
  const savepoint = savepointOn(view, {
    send: (text) => mine(sql.unsafe(text)) as PromiseLike<unknown>,
    inner: () => viewOn(sql, body),
  })
  return view
}

/** As `file` of postgres.js, which reads the text when the query is sent. */
function fromFile(sql: PostgresJsSql, body: PostgresJsBody, given: readonly unknown[]): unknown {
  const [path, first, second] = given
  const args = Array.isArray(first) ? first : []
  const options = (Array.isArray(first) ? second : first) as object | undefined
  const query = sql.unsafe('', args as never[], { prepare: true, simple: args.length === 0, ...options })
  return isQuery(query) ? body.take(query, path as string | URL) : query
}

function refuseElsewhere(name: PropertyKey): Method {
  return () => {
    throw new LockUsageError(
      'tx',
      `${String(name)} is not available inside a transaction: use the sql that was passed to createLocks`,
    )
  }
}
