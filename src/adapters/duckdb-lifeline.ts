import { setTimeout as pause } from 'node:timers/promises'
import { LockUsageError } from '../core/errors.ts'

/** What can be ended: a connection of DuckDB's. */
export interface Endable {
  interrupt(): void
  disconnectSync(): void
}

/**
 * A connection of which everything that runs is known, so that it can be ended.
 *
 * Disconnecting under a running statement can freeze the process for good (seen on 1.5.6), also when the statement
 * was prepared before and starts just then.
 */
export interface Lifeline<Connection> {
  /** The connection for the caller's work. */
  readonly tx: Connection
  /** Makes a call, unless the connection is to end. */
  readonly use: <T>(call: () => Promise<T>) => Promise<T>
  /** Takes no more calls, interrupts those that run, and disconnects once they are over. */
  readonly end: () => Promise<void>
}

export function lifeline<Connection extends Endable>(connection: Connection): Lifeline<Connection> {
  const running = new Set<Promise<unknown>>()
  let isEnding = false
  const use = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isEnding) throw ended()
    const result = call()
    running.add(result)
    try {
      return await result
    } finally {
      running.delete(result)
    }
  }
  const end = async (): Promise<void> => {
    if (isEnding) return
    isEnding = true
    await interruptAll(connection, running)
    connection.disconnectSync() // rolls back what is open
  }
  return { tx: guarded(connection, { use, isEnding: () => isEnding }), use, end }
}

interface Guard {
  readonly use: Lifeline<unknown>['use']
  readonly isEnding: () => boolean
}

type Method = (...args: unknown[]) => unknown

/** The same object, whose calls are known; so are those of the statements that it prepares. */
function guarded<T extends object>(object: T, guard: Guard): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method: Method = (value as Method).bind(target)
      // what is not a promise runs nothing that could outlast the call
      if (String(name).endsWith('Sync') || String(name).startsWith('bind')) return method
      return (...args: unknown[]) => callWithin(guard, method, args)
    },
  })
}

function callWithin(guard: Guard, method: Method, args: unknown[]): unknown {
  if (guard.isEnding()) throw ended()
  const result = method(...args)
  if (!(result instanceof Promise)) return result
  return guard.use(async () => {
    const value: unknown = await result
    return isStatement(value) ? guarded(value, guard) : value
  })
}

function isStatement(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'bindValue' in value
}

/** An interrupt that comes before a statement has begun is lost, so it is repeated. */
async function interruptAll(connection: Endable, running: ReadonlySet<Promise<unknown>>): Promise<void> {
  let isOver = running.size === 0
  const over = Promise.allSettled(running).then(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([over, pause(0)])
    if (isOver) return
    connection.interrupt()
    await Promise.race([over, pause(20)])
  }
}

function ended(): LockUsageError {
  return new LockUsageError('tx', 'the transaction has ended')
}
