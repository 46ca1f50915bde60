import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Flight } from '../flight.ts'
import type { ConnectionProvider, KyselyInstance, KyselyPluginLike, Pinned } from './connection.ts'
import { hasEnded } from '../transaction-body.ts'
import { checked, checkedView, refusedEnding, viewOf, type Method } from '../transaction-view.ts'

/** The transaction type of a Kysely instance, as its own `transaction().execute()` gives it. */
export type TransactionOf<Db> = Db extends {
  transaction(): { execute(work: (trx: infer Trx) => Promise<never>): Promise<never> }
}
  ? Trx
  : KyselyInstance

/** What would end or leave the transaction behind our back. */
const refused: Readonly<Record<string, string>> = {
  transaction: 'a transaction is already open',
  startTransaction: 'a transaction is already open',
  connection: 'a transaction has one connection, and this is it',
  destroy: 'the pool belongs to the instance that the locks were made from',
}

/** What gives another instance, of the same transaction. */
const deriving = new Set<PropertyKey>(['withPlugin', 'withoutPlugins', 'withSchema', 'withTables'])

/** A transaction's place on a connection. */
export interface TransactionPlace extends Pick<Pinned, 'db' | 'connection'> {
  /** Whether the connection is still lent to the transaction. */
  readonly isLent: () => boolean
  /** Told of each query as soon as it is asked for: it reaches the connection later. */
  readonly running: Flight
}

/**
 * A Kysely instance that runs everything on one connection, as the transaction that is open there.
 *
 * Kysely makes its own transaction objects only together with a BEGIN of its own, which can neither be IMMEDIATE nor
 * bring a lock timeout along. What comes after the end is refused, whatever it was derived from and however early:
 * somebody else has the connection then.
 */
export function asTransaction<Trx>(
  { db, connection, isLent, running }: TransactionPlace,
  plugin: TransactionPlugin,
): Trx {
  const lent = checkedView(connection, () => {
    if (!isLent()) throw hasEnded()
  })
  const executor = db.getExecutor()
  const provider: ConnectionProvider = {
    provideConnection: (work, ...rest) => {
      if (!plugin.isOpen()) return Promise.reject(hasEnded())
      const turn = executor.provideConnection(() => work(lent), ...rest)
      running.start()
      turn.then(running.land, running.land)
      return turn
    },
  }
  const own = executor.withConnectionProvider(provider as never).withPlugin(plugin as never)
  return viewOfTransaction(instanceOn(own, db), plugin) as Trx
}

/** Made as Kysely makes one of another. What is not here is refused below, or of no use to a transaction. */
function instanceOn(executor: object, db: KyselyInstance): KyselyInstance {
  const dialect = { createIntrospector: () => db.introspection }
  const kind = db.constructor as new (props: object) => KyselyInstance
  return new kind({ config: {}, driver: {}, dialect, executor })
}

function viewOfTransaction(db: KyselyInstance, plugin: TransactionPlugin): KyselyInstance {
  const view: KyselyInstance = viewOf(db, (name, value) => {
    if (name === 'isTransaction') return true
    const reason = typeof name === 'string' && Object.hasOwn(refused, name) ? refused[name] : undefined
    if (reason !== undefined) return () => refuse(reason)
    if (name === 'executeQuery') return checked(db, value as Method, plugin.check)
    if (name === 'introspection') return checkedView(value as object, plugin.check)
    if (!deriving.has(name)) return refusedEnding(name)
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
  readonly isOpen: () => boolean
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
    isOpen,
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
