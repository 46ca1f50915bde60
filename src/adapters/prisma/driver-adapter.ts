import { AsyncLocalStorage } from 'node:async_hooks'

import { viewOf } from '../transaction-view.ts'
import { tellPrisma } from './veil.ts'

/** What Prisma gives to a driver adapter. */
export interface PrismaQuery {
  readonly sql: string
  readonly args: readonly unknown[]
  readonly argTypes: readonly unknown[]
}

interface Queryable {
  queryRaw(query: PrismaQuery): Promise<unknown>
  executeRaw(query: PrismaQuery): Promise<number>
}

/** What Prisma calls a transaction of a driver adapter. */
export interface DriverTransaction extends Queryable {
  readonly options: { readonly usePhantomQuery: boolean }
  commit(): Promise<void>
  rollback(): Promise<void>
  createSavepoint(name: string): Promise<void>
  rollbackToSavepoint(name: string): Promise<void>
  releaseSavepoint(name: string): Promise<void>
}

/** A driver adapter that is connected, with what its typings keep to themselves. */
export interface DriverAdapter extends Queryable {
  /** What it sends its statements to: a pool of `pg`, a handle of `better-sqlite3`. */
  readonly client: object
  startTransaction(isolation?: string): Promise<unknown>
  dispose(): Promise<void>
  /** Throws what it makes of the driver's error. */
  onError(error: unknown): never
}

/** What is used of a driver adapter of Prisma's, before it is connected. */
export interface PrismaAdapter {
  readonly provider: string
  readonly adapterName: string
  connect(): Promise<unknown>
}

/** One transaction of Prisma's that is to be on a connection of ours. */
export interface Loan {
  /** Absent when it has been taken. */
  take: ((adapter: DriverAdapter) => DriverTransaction) | undefined
}

/** By the chain of calls that asks Prisma for a transaction. The work is not in that chain. */
const loans = new AsyncLocalStorage<Loan>()

export function withLoan<T>(loan: Loan, ask: () => T): T {
  return loans.run(loan, ask)
}

/** How many transactions are on loans of an adapter. */
const underWay = new WeakMap<DriverAdapter, number>()

/** Notes that one begins. Gives what notes its end. */
export function noteLoan(adapter: DriverAdapter): () => void {
  underWay.set(adapter, (underWay.get(adapter) ?? 0) + 1)
  return () => void underWay.set(adapter, (underWay.get(adapter) ?? 1) - 1)
}

/** The adapter for Prisma: a transaction that is asked for with a loan is on what the loan gives. */
export function lending(adapter: DriverAdapter, onDispose: () => void): DriverAdapter {
  const startTransaction = async (isolation?: string): Promise<unknown> => {
    const loan = loans.getStore()
    if (loan?.take === undefined) return adapter.startTransaction(isolation)
    const { take } = loan
    loan.take = undefined
    return take(adapter)
  }
  // The pool waits for the connection that is lent, and Prisma keeps the transaction's next statement until the pool has
  // ended. Prisma's own transactions are told that they are over, and so are these when it does not wait for the pool.
  const dispose = async (): Promise<void> => {
    onDispose()
    const ended = adapter.dispose()
    if ((underWay.get(adapter) ?? 0) === 0) return ended
    ended.catch(() => {})
  }
  const own: Readonly<Record<PropertyKey, (isolation?: string) => Promise<unknown>>> = {
    startTransaction,
    dispose,
  }
  return viewOf(adapter, (name) => own[name])
}

/** A transaction for Prisma on a connection that somebody else begins and ends the transaction on. */
export function transactionOn(adapter: DriverAdapter, connection: object): DriverTransaction {
  const queryable = queryableOn(adapter, connection)
  const say = async (sql: string): Promise<void> => {
    // a driver that prepares what it executes cannot do so with these
    if (isPreparing(connection))
      await connection.query(sql).catch((error: unknown) => queryable.onError(error))
    else await queryable.executeRaw({ sql, args: [], argTypes: [] })
  }
  return Object.assign(queryable, {
    // then Prisma sends no COMMIT or ROLLBACK of its own, and calls these
    options: { usePhantomQuery: true },
    commit: nothing,
    rollback: nothing,
    createSavepoint: (name: string) => say(`SAVEPOINT ${name}`),
    rollbackToSavepoint: (name: string) => say(`ROLLBACK TO SAVEPOINT ${name}`),
    releaseSavepoint: (name: string) => say(`RELEASE SAVEPOINT ${name}`),
  })
}

interface Preparing {
  execute(sql: string): Promise<unknown>
  query(sql: string): Promise<unknown>
}

function isPreparing(connection: object): connection is Preparing {
  return 'execute' in connection && 'query' in connection
}

/** The adapter itself, on another connection: how it converts values and errors is its own business. */
export function queryableOn(adapter: DriverAdapter, connection: object): DriverAdapter {
  return Object.create(adapter, {
    client: { value: connection },
    onError: { value: (error: unknown) => tellPrisma(error, (told) => adapter.onError(told)) },
  }) as DriverAdapter
}

async function nothing(): Promise<void> {}
