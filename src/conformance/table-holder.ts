import type { Statement } from '../core/statement.ts'
import type { TableLock } from '../locks/table/options.ts'
import type { TransactionOptions } from '../locks/transaction/options.ts'
import { deferred } from './deferred.ts'
import type { Stage } from './stage.ts'

/** A client that holds the table. */
export interface Locking {
  readonly by: string
  readonly request?: Omit<TableLock, 'table'>
  readonly options?: TransactionOptions
}

/**
 * Runs `work` while a transaction has the law's table locked from its beginning: beside that, so that what others do
 * meanwhile is not taken for a part of it.
 */
export async function whileLocked<T>(
  stage: Stage,
  { by, request = {}, options }: Locking,
  work: (tx: object) => Promise<T>,
): Promise<T> {
  const { locks } = await stage.client(by)
  const tables = { ...request, table: stage.table }
  const granted = deferred<object>()
  const done = deferred<T>()
  const hold = async (tx: object): Promise<T> => {
    granted.resolve(tx)
    return done.promise
  }
  const held = locks.transaction(hold, { attempts: 1, signal: stage.signal, ...options, tables })
  held.catch(granted.reject)
  const noted = stage.note(by, `lock the table ${JSON.stringify(request)}`, held)
  const tx = await granted.promise
  work(tx).then(done.resolve, done.reject)
  return noted
}

/** Somebody who wants to do something with the table meanwhile. */
export interface Intruder {
  readonly untilWaiting: () => Promise<void>
  readonly done: Promise<unknown>
}

export async function intruder(stage: Stage, name: string, statement: Statement): Promise<Intruder> {
  const { locks, run } = await stage.client(name)
  const does = 'use the table'
  return waiter(stage, {
    name,
    does,
    work: locks.transaction((tx) => run(tx, statement), { signal: stage.signal }),
  })
}

interface Waiter {
  readonly name: string
  readonly does: string
  readonly work: Promise<unknown>
}

/** Somebody who waits for a table. */
export function waiter(stage: Stage, { name, does, work }: Waiter): Intruder {
  const done = stage.note(name, does, work)
  done.catch(() => {}) // looked at by whoever waits for it
  const inServer = stage.facts.plan('table')?.waiting.by === 'server' ? 1 : 0
  return { done, untilWaiting: () => stage.untilWaiting(`${name}: ${does}`, done, inServer) }
}
