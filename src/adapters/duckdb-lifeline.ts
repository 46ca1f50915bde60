import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'
import { LockUsageError } from '../core/errors.ts'
import { Blame } from './duckdb-blame.ts'
import { viewOf } from './duckdb-view.ts'

/** What can be ended: a connection of DuckDB's. */
export interface Endable {
  interrupt(): void
  disconnectSync(): void
}

/**
 * A connection of which everything that runs is known, so that its transaction, and it itself, can be ended.
 *
 * DuckDB runs what is sent at the same time in any order, so a COMMIT would overtake the work's own statements, and
 * those would then be stored one by one. Disconnecting under a running statement can freeze the process for good (seen
 * on 1.5.6), also when the statement was prepared before and starts just then.
 */
export interface Lifeline<Connection> {
  /** The connection for the caller's work. */
  readonly tx: Connection
  /** A transaction has begun: its work may make calls. */
  readonly enter: () => void
  /** Takes no more calls of the work, and waits for those that run. Gives the error of the first that fails. */
  readonly settle: () => Promise<unknown>
  /** Takes no more calls of the work, and interrupts those that run. */
  readonly halt: () => Promise<void>
  /** The error that has ended the transaction. */
  readonly failure: () => unknown
  /** Makes a call of Holdfast's own, unless the connection is to end. */
  readonly use: <T>(call: () => Promise<T>) => Promise<T>
  /** Takes no more calls, interrupts those that run, and disconnects once they are over. */
  readonly end: () => Promise<void>
}

export function lifeline<Connection extends Endable>(connection: Connection): Lifeline<Connection> {
  const running = new Running()
  const guilty = new Blame()
  let isOpen = false
  let isEnding = false
  const leave = (): void => {
    isOpen = false
    running.own()
  }
  const track = <T>(result: Promise<T>): Promise<T> =>
    running.add(result, (error) => guilty.explain(error, () => running.settled()))
  const mayCall = (): void => {
    if (!isOpen) throw new LockUsageError('tx', 'the transaction has ended')
  }
  const mayDisconnect = (): void => {
    if (running.size === 0) return
    throw new LockUsageError('tx', 'a statement still runs on it: await that before you disconnect')
  }
  return {
    tx: viewOf(connection, { track, note: (error) => guilty.note(error), mayCall, mayDisconnect }),
    enter: () => {
      guilty.forget()
      isOpen = true
    },
    settle: () => {
      leave()
      return running.untilNone()
    },
    halt: () => {
      leave()
      return running.interruptAll(connection)
    },
    failure: () => guilty.error,
    use: async (call) => {
      if (isEnding) throw new LockUsageError('tx', 'the transaction has ended')
      return track(call())
    },
    end: async () => {
      if (isEnding) return
      isEnding = true
      leave()
      await running.interruptAll(connection)
      connection.disconnectSync() // rolls back what is open
    },
  }
}

/** The calls that have not been answered, and what their callers were given for them. */
class Running {
  readonly #told = new Map<Promise<unknown>, Promise<unknown>>()

  get size(): number {
    return this.#told.size
  }

  /** Gives what the call gives, or rejects with what `read` makes of its error. */
  add<T>(result: Promise<T>, read: (error: unknown) => Promise<unknown>): Promise<T> {
    const tell = async (): Promise<T> => {
      try {
        return await result
      } catch (error) {
        throw await read(error)
      } finally {
        this.#told.delete(result)
      }
    }
    const told = tell()
    this.#told.set(result, told)
    return told
  }

  /** Whoever did not wait for these hears of them through the transaction. */
  own(): void {
    for (const told of this.#told.values()) told.catch(() => {})
  }

  settled(): Promise<readonly PromiseSettledResult<unknown>[]> {
    return Promise.allSettled(this.#told.keys())
  }

  /** Gives the first error. A call of Holdfast's own may consist of several, each sent when the one before is over. */
  async untilNone(): Promise<unknown> {
    let failed: PromiseRejectedResult | undefined
    while (this.size > 0) {
      const results = await this.settled()
      failed ??= results.find((result) => result.status === 'rejected')
      await nextRound()
    }
    return failed?.reason
  }

  /** An interrupt that comes before a statement has begun is lost, so it is repeated. */
  async interruptAll(connection: Endable): Promise<void> {
    const over = this.untilNone()
    while (this.size > 0) {
      await Promise.race([over, pause(0)])
      if (this.size === 0) return
      connection.interrupt()
      await Promise.race([over, pause(20)])
    }
  }
}
