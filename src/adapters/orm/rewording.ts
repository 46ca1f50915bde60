import { AsyncLocalStorage } from 'node:async_hooks'

import { LockUsageError } from '../../core/errors.ts'
import { viewOf } from '../transaction-view.ts'
import type { Wire } from './wire.ts'

/** A SELECT that an ORM is about to send, and what is sent in its place. */
interface Rewording {
  readonly from: string
  readonly to: string
  count: number
}

/** By the chain of calls, so that the same SELECT of another chain stays what it is. */
const orders = new AsyncLocalStorage<Rewording>()

/** The methods of a connection, of any driver, whose first argument is a statement. */
const sending = new Set<PropertyKey>(['query', 'execute', 'prepare'])

/** The connection for an ORM, on which {@link sendReworded} can change what is sent. */
export function rewordable<Connection extends object>(connection: Connection, wire: Wire): Connection {
  return viewOf(connection, (name, value) => {
    if (!sending.has(name)) return undefined
    const send = value as Sending
    return (query: unknown, ...rest: unknown[]) => {
      const given = wire.send(send, [reworded(query), ...rest])
      return name === 'prepare' && isStatement(given) ? followed(given, wire) : given
    }
  })
}

type Sending = (...args: unknown[]) => unknown

/** A prepared statement of `better-sqlite3`, which it gives at once. */
function isStatement(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !(given instanceof Promise) && 'run' in given
}

const running = new Set<PropertyKey>(['run', 'get', 'all', 'iterate'])

function followed(statement: object, wire: Wire): object {
  return viewOf(statement, (name, value) =>
    running.has(name)
      ? (...args: unknown[]) => wire.follow(() => (value as Sending).apply(statement, args))
      : undefined,
  )
}

function reworded(query: unknown): unknown {
  const order = orders.getStore()
  if (order === undefined) return query
  if (typeof query === 'string') return query === order.from ? take(order) : query
  // `pg` calls it text, `mysql2` sql
  const { text, sql } = query as { readonly text?: unknown; readonly sql?: unknown }
  if ((text ?? sql) !== order.from) return query
  // a name belongs to the text that it was given to
  return { ...(query as object), name: undefined, [text === undefined ? 'sql' : 'text']: take(order) }
}

function take(order: Rewording): string {
  order.count += 1
  return order.to
}

/**
 * Runs a query of an ORM, with another text than the ORM made. Rejects unless that was sent once, on a connection of
 * {@link rewordable}: an ORM may answer from its cache, or send the query on a connection of its pool.
 */
export async function sendReworded<T>(
  { from, to }: Pick<Rewording, 'from' | 'to'>,
  run: () => PromiseLike<T>,
): Promise<T> {
  const order: Rewording = { from, to, count: 0 }
  const answer = await orders.run(order, async () => run())
  if (order.count === 1) return answer
  throw new LockUsageError(
    'query',
    order.count === 0
      ? 'was not sent on this transaction, so nothing is locked: build it with tx, and without a cache'
      : `was sent ${order.count} times`,
  )
}
