import { LockUsageError } from '../core/errors.ts'
import type { KyselyInstance, KyselyPluginLike } from './kysely-connection.ts'

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

/**
 * A Kysely instance that runs everything on one connection, as the transaction that is open there.
 *
 * Kysely makes its own transaction objects only together with a BEGIN of its own, which can neither be IMMEDIATE nor
 * bring a lock timeout along. A query that is compiled after the end is refused: somebody else has the connection then.
 */
export function asTransaction<Trx>(db: KyselyInstance, plugin: KyselyPluginLike): Trx {
  const view = new Proxy(db.withPlugin(plugin), {
    get: (target, name) => {
      if (name === 'isTransaction') return true
      const reason = typeof name === 'string' && Object.hasOwn(refused, name) ? refused[name] : undefined
      if (reason !== undefined) return () => refuse(reason)
      // Kysely keeps its state in private fields, which a proxy does not have
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return view as Trx
}

/**
 * Refuses every query that is compiled while `isOpen` says no, and leaves the others to `plugin`: one for both, because
 * Kysely waits for each plugin of each answer.
 */
export function whileOpen(isOpen: () => boolean, plugin?: KyselyPluginLike): KyselyPluginLike {
  return {
    transformQuery: (args) => {
      if (!isOpen()) refuse('the transaction has ended')
      return plugin === undefined ? args.node : plugin.transformQuery(args)
    },
    transformResult: plugin === undefined ? async ({ result }) => result : plugin.transformResult,
  }
}

function refuse(reason: string): never {
  throw new LockUsageError('tx', reason)
}
