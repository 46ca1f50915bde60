import { noteDerived } from '../core/derived.ts'
import { LockUsageError } from '../core/errors.ts'
import type { KyselyInstance, KyselyPluginLike } from './kysely-connection.ts'
import { hasEnded } from './transaction-body.ts'
import { viewOf } from './transaction-view.ts'

/** The transaction type of a Kysely instance, as its own `transaction().execute()` gives it. */
export type TransactionOf<Db> = Db extends {
  transaction(): { execute(work: (trx: infer Trx) => Promise<never>): Promise<never> }
}
  ? Trx
  : KyselyInstance

/** What would end or leave the transaction behind our back. */
const refused: Readonly<Record<string, string>> = {
  transaction: 'a transaction is open already',
  startTransaction: 'a transaction is open already',
  connection: 'a transaction has one connection, and this is it',
  destroy: 'the pool belongs to the instance that the locks were made from',
}

/** What gives another instance, of the same transaction. */
const deriving = new Set<PropertyKey>(['withPlugin', 'withoutPlugins', 'withSchema', 'withTables'])

/**
 * A Kysely instance that runs everything on one connection, as the transaction that is open there.
 *
 * Kysely makes its own transaction objects only together with a BEGIN of its own, which can neither be IMMEDIATE nor
 * bring a lock timeout along. A query that is compiled after the end is refused: somebody else has the connection then.
 */
export function asTransaction<Trx>(db: KyselyInstance, plugin: TransactionPlugin): Trx {
  return viewOfTransaction(db.withPlugin(plugin), plugin) as Trx
}

function viewOfTransaction(db: KyselyInstance, plugin: TransactionPlugin): KyselyInstance {
  const view: KyselyInstance = viewOf(db, (name, value) => {
    if (name === 'isTransaction') return true
    const reason = typeof name === 'string' && Object.hasOwn(refused, name) ? refused[name] : undefined
    if (reason !== undefined) return () => refuse(reason)
    if (name === 'executeQuery') plugin.check()
    if (!deriving.has(name)) return undefined
    return (...args: never[]) => {
      const derived = (value as (...args: never[]) => KyselyInstance).apply(db, args)
      const whole = name === 'withoutPlugins' ? derived.withPlugin(plugin) : derived
      const child = viewOfTransaction(whole, plugin)
      noteDerived(child, view)
      return child
    }
  })
  return view
}

/** The plugin of a transaction. It stays on whatever is derived from it. */
export interface TransactionPlugin extends KyselyPluginLike {
  /** Throws when the transaction has ended. */
  readonly check: () => void
}

/**
 * Refuses every query that is compiled while `isOpen` says no, and leaves the others to `plugin`: one for both, because
 * Kysely waits for each plugin of each answer.
 */
export function whileOpen(isOpen: () => boolean, plugin?: KyselyPluginLike): TransactionPlugin {
  const check = (): void => {
    if (!isOpen()) throw hasEnded()
  }
  return {
    check,
    transformQuery: (args) => {
      check()
      return plugin === undefined ? args.node : plugin.transformQuery(args)
    },
    transformResult: plugin === undefined ? async ({ result }) => result : plugin.transformResult,
  }
}

function refuse(reason: string): never {
  throw new LockUsageError('tx', reason)
}
