import { AsyncLocalStorage } from 'node:async_hooks'

import { LockUsageError } from '../../core/errors.ts'
import { viewOf } from '../transaction-view.ts'
import type { Wire } from './wire.ts'

/** A SELECT that an ORM is about to send, what is sent in its place, and where it must be sent. */
export interface Rewording {
  readonly from: string
  readonly to: string
  readonly wire: Wire | undefined
}

interface Order extends Rewording {
  count: number
  /** Why what it gives is not all locked. */
  refusal: LockUsageError | undefined
  isOver: boolean
  /** Called with what is to be sent, once, where it is not to be sent yet. */
  hold: ((held: Held) => void) | undefined
}

/** A statement that the ORM has given to its connection, and that was not sent yet. */
interface Held {
  readonly send: () => void
  readonly drop: (why: unknown) => void
}

/** By the chain of calls, so that the same SELECT of another chain stays what it is. */
const orders = new AsyncLocalStorage<Order>()

/** The methods of a connection, of any driver, whose first argument is a statement. */
const sending = new Set<PropertyKey>(['query', 'execute', 'prepare'])

/** The connection for an ORM, on which {@link rewordedRead} can change what is sent. */
export function rewordable<Connection extends object>(connection: Connection, wire: Wire): Connection {
  return viewOf(connection, (name, value) => {
    if (!sending.has(name)) return undefined
    const method = value as Sending
    return (query: unknown, ...rest: unknown[]) => {
      const order = orders.getStore()
      const text = textOf(query)
      if (order === undefined || text !== order.from) {
        if (order?.isOver === false && isRead(text)) refuse(order, severalReads())
        return sent({ name, method, wire }, [query, ...rest])
      }
      mustBeOn(wire, order)
      order.count += 1
      const send = (): unknown => sent({ name, method, wire }, [reworded(query, order.to), ...rest])
      return order.hold === undefined ? send() : heldBack(order, send, rest)
    }
  })
}

interface Sender {
  readonly name: PropertyKey
  readonly method: Sending
  readonly wire: Wire
}

function sent({ name, method, wire }: Sender, args: readonly unknown[]): unknown {
  const given = wire.send(method, args)
  return name === 'prepare' && isStatement(given) ? followed(given, wire) : given
}

/** The ORM has its answer, by promise or by callback, when the statement is sent and answered. */
function heldBack(order: Order, send: () => unknown, rest: readonly unknown[]): Promise<unknown> {
  const { hold } = order
  order.hold = undefined
  const callback = rest.at(-1)
  return new Promise((resolve, reject) => {
    const drop = typeof callback === 'function' ? (callback as (why: unknown) => void) : reject
    hold?.({ send: () => resolve(send()), drop })
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

/** `pg` calls it text, `mysql2` sql. */
function textOf(query: unknown): unknown {
  if (typeof query === 'string') return query
  const { text, sql } = query as { readonly text?: unknown; readonly sql?: unknown }
  return text ?? sql
}

function reworded(query: unknown, to: string): unknown {
  if (typeof query === 'string') return to
  // a name belongs to the text that it was given to
  return { ...(query as object), name: undefined, ['text' in (query as object) ? 'text' : 'sql']: to }
}

/** Of another transaction it would be the other one that has the lock. */
function mustBeOn(wire: Wire, order: Order): void {
  if (order.wire !== wire) refuse(order, notOurs())
}

/** The ORM is told, and may keep it to itself. */
function refuse(order: Order, refusal: LockUsageError): never {
  order.refusal ??= refusal
  throw refusal
}

/** What an ORM reads besides, such as a relation, becomes a part of what it gives, and is not locked. */
function isRead(text: unknown): boolean {
  return (
    typeof text === 'string' && /^(?:\s|\(|\/\*.*?\*\/|--.*\n)*(?:select|with|table|values)\b/is.test(text)
  )
}

/** A query of an ORM, with another text than the ORM made. */
export interface RewordedRead<T> {
  /**
   * Has the ORM bring the query to the connection, and stops it there, so that `run` sends it at once. Gives what drops
   * it where it is not sent after all.
   */
  readonly ready: () => Promise<(why: unknown) => void>
  /**
   * Rejects unless it was sent once, on the wire of the transaction, and alone: an ORM may answer from its cache, send
   * the query on another connection, or read relations by queries of their own.
   */
  readonly run: () => Promise<T>
}

export function rewordedRead<T>(words: Rewording, run: () => PromiseLike<T>): RewordedRead<T> {
  let waiting: Held | undefined
  let answer: Promise<T> | undefined
  const ask = (hold?: Order['hold']): Promise<T> =>
    asked({ ...words, count: 0, refusal: undefined, isOver: false, hold }, run)
  const drop = (why: unknown): void => {
    waiting?.drop(why)
    waiting = undefined
  }
  return {
    ready: () =>
      new Promise((resolve, reject) => {
        answer = ask((held) => {
          waiting = held
          resolve(drop)
        })
        answer.catch(reject)
      }),
    run: () => {
      if (waiting === undefined || answer === undefined) return ask()
      waiting.send()
      waiting = undefined
      return answer
    },
  }
}

async function asked<T>(order: Order, run: () => PromiseLike<T>): Promise<T> {
  let answer: T
  try {
    answer = await orders.run(order, async () => run())
  } catch (error) {
    // the ORM puts its own error around it
    throw order.refusal ?? error
  } finally {
    order.isOver = true
  }
  if (order.refusal !== undefined) throw order.refusal
  if (order.count === 1) return answer
  throw order.count === 0 ? notOurs() : new LockUsageError('query', `was sent ${order.count} times`)
}

function notOurs(): LockUsageError {
  return new LockUsageError(
    'query',
    'was not sent on this transaction, so nothing is locked: build it with tx, and without a cache',
  )
}

function severalReads(): LockUsageError {
  return new LockUsageError(
    'query',
    'takes more than one SELECT, and not all that they read is locked: leave out what is read besides, such as a relation, and read it after it',
  )
}
