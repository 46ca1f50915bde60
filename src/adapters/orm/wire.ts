import { AsyncLocalStorage } from 'node:async_hooks'

import { originOf } from '../../core/derived.ts'
import { floatingFailure, undoneWithNested } from '../transaction-end.ts'
import { Traffic } from './traffic.ts'

/** Nested work that is under way, of the transaction `of`. */
export interface NestedWork {
  readonly of: object
  readonly wire: Wire | undefined
  readonly outer: NestedWork | undefined
  readonly traffic: Traffic
  /** Whether somebody else has sent something meanwhile, which going back to its savepoint would undo. */
  hasOthers: boolean
  isOver: boolean
}

/** By the chain of calls. */
export const nestedWork: AsyncLocalStorage<NestedWork> = new AsyncLocalStorage()

type Callback = (error: unknown, ...answer: unknown[]) => unknown

/** The connection of one session below an ORM, and what is under way on it. */
export class Wire {
  readonly #traffic: Traffic = new Traffic()
  readonly #nested = new Set<NestedWork>()
  #hasReturned = false
  /** Why the transaction must not be stored. */
  #failure: Error | undefined

  /** Nested work that has begun: from now on, what others send would be undone with it. */
  enter(work: NestedWork): void {
    this.#nested.add(work)
  }

  /** It is over. The ORM has gone back to its savepoint if it has failed. */
  leave(work: NestedWork, isUndone: boolean): void {
    this.#nested.delete(work)
    if (isUndone && work.hasOthers) this.#failure ??= undoneWithNested()
  }

  /** The work has returned. Rejects where something was lost that the work does not know of. */
  async untilStill(driver: (() => Promise<void> | undefined) | undefined): Promise<void> {
    this.#hasReturned = true
    // the driver is told first: what fails from now on, nobody waits for
    await this.#traffic.untilStill(driver)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** The same as {@link follow} for a call of the ORM's own: of one that fails behind the work's end, nobody knows. */
  call<T>(call: () => Promise<T>): Promise<T> {
    return this.follow(() => {
      const result = call()
      result.catch((error: unknown) => {
        if (this.#hasReturned) this.#failure ??= floatingFailure(error)
      })
      return result
    })
  }

  /** Makes a call that counts as under way until what it gives is settled. */
  follow<T>(call: () => T): T {
    return this.#watch((all) => {
      const result = call()
      if (result instanceof Promise)
        result.then(
          () => end(all),
          (error: unknown) => fail(all, error),
        )
      else end(all)
      return result
    })
  }

  /** The same for a method of a driver, which may answer by a callback. */
  send(method: (...args: unknown[]) => unknown, args: readonly unknown[]): unknown {
    const callback = args.at(-1)
    if (typeof callback !== 'function') return this.follow(() => method(...args))
    return this.#watch((all) => {
      const told: Callback = (error, ...answer) => {
        if (error == null) end(all)
        else fail(all, error)
        return (callback as Callback)(error, ...answer)
      }
      return method(...args.slice(0, -1), told)
    })
  }

  #watch<T>(call: (all: readonly Traffic[]) => T): T {
    const all = this.#start()
    try {
      return call(all)
    } catch (error) {
      fail(all, error)
      throw error
    }
  }

  /** It counts for the session, and for the nested work that it is a part of. */
  #start(): readonly Traffic[] {
    const all = [this.#traffic]
    const own = new Set<NestedWork>()
    for (let work = nestedWork.getStore(); work !== undefined; work = work.outer) {
      own.add(work)
      if (work.wire !== this) continue
      all.push(work.traffic)
      // the first of them is the ORM's SAVEPOINT: what comes behind it counts before it is answered
      if (!work.isOver) this.enter(work)
    }
    for (const work of this.#nested) if (!own.has(work)) work.hasOthers = true
    for (const traffic of all) traffic.start()
    return all
  }
}

function end(all: readonly Traffic[]): void {
  for (const traffic of all) traffic.end()
}

function fail(all: readonly Traffic[], error: unknown): void {
  for (const traffic of all) traffic.fail(error)
}

const wires = new WeakMap<WeakKey, Wire>()

export function noteWire(tx: object, wire: Wire): void {
  wires.set(tx, wire)
}

/** The one that a transaction of an ORM is on, or one that is nested in it. */
export function wireOf(tx: object): Wire | undefined {
  return wires.get(originOf(tx))
}

/** Makes a call of a transaction that is more than a statement: it counts as under way until it is settled. */
export function follow<T>(tx: object, call: () => Promise<T>): Promise<T> {
  const wire = wireOf(tx)
  return wire === undefined ? call() : wire.follow(call)
}

/** The same for a call of the ORM's own, see {@link Wire.call}. */
export function followCall<T>(tx: object, call: () => Promise<T>): Promise<T> {
  const wire = wireOf(tx)
  return wire === undefined ? call() : wire.call(call)
}
