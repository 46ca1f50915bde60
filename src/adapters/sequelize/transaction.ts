import { LockUsageError } from '../../core/errors.ts'
import { refuseEnd } from '../orm/nesting.ts'
import type { AfterCommit, SequelizeInstance, SequelizeTransaction } from './instance.ts'
import { transactionClassOf } from './instance.ts'

/** Gives Sequelize's own transaction object, on a connection that somebody else begins and ends the transaction on. */
export type Dresser = (connection: object) => SequelizeTransaction

/** What the work wants done when its transaction is stored. */
const hooks = new WeakMap<SequelizeTransaction, AfterCommit[]>()

/** Throws where Sequelize is not as it is known. */
export function dresserOf(sequelize: SequelizeInstance): Dresser {
  const Transaction = transactionClassOf(sequelize)
  return (connection) => {
    const tx = new Transaction(sequelize, {})
    tx.connection = connection
    tx.connection.uuid = tx.id
    keepOpen(tx)
    keepHooks(tx)
    return tx
  }
}

/** The connection is given back, and named after nobody. */
export function undress(tx: SequelizeTransaction): void {
  if (tx.connection.uuid === tx.id) tx.connection.uuid = undefined
}

/** What ends a transaction, or takes its object to another connection. */
const ends = ['commit', 'rollback', 'prepareEnvironment', 'cleanup', 'forceCleanup'] as const

/** Until the work is done, its ends are refused. Gives what lets Sequelize end it. */
export function keepOpen(tx: SequelizeTransaction): () => void {
  for (const name of ends) tx[name] = async () => refuseEnd(name)
  // Sequelize sets it at a deadlock, and would answer with an error of its own that tells nothing
  Object.defineProperty(tx, 'finished', { configurable: true, get: () => undefined, set: () => {} })
  return () => {
    for (const name of [...ends, 'finished']) Reflect.deleteProperty(tx, name)
  }
}

/** Those of nested work wait for the end of the whole, and Sequelize would call them at the end of a savepoint. */
export function keepHooks(tx: SequelizeTransaction): AfterCommit[] {
  const own: AfterCommit[] = []
  hooks.set(tx, own)
  tx.afterCommit = (hook) => {
    if (typeof hook !== 'function') throw new LockUsageError('hook', 'must be a function')
    own.push(hook)
  }
  return own
}

/** Hooks of nested work that has succeeded are those of what is around it. */
export function handOver(inner: AfterCommit[], outer: SequelizeTransaction): void {
  hooks.get(outer)?.push(...inner)
}

/** Calls the hooks of a transaction that is stored, one after another as Sequelize does. */
export function runHooks(tx: SequelizeTransaction): Promise<void> | undefined {
  const own = hooks.get(tx) ?? []
  return own.length === 0 ? undefined : inTurn(tx, own)
}

async function inTurn(tx: SequelizeTransaction, own: readonly AfterCommit[]): Promise<void> {
  try {
    for (const hook of own) await hook.call(tx, tx)
  } catch (cause) {
    throw new LockUsageError('afterCommit', 'a hook has failed, after the transaction was stored', {
      cause,
      isStored: true,
    })
  }
}
