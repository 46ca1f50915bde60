import { restoreStatement, type SettingChange } from '../core/plan.ts'
import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row, SqlStatement } from '../core/statement.ts'
import {
  pin,
  rawQuery,
  type KyselyInstance,
  type KyselyTransaction,
  type Pinned,
} from './kysely-connection.ts'
import { sqlOnly } from './statement-kind.ts'
import type { DriverTraits } from './traits.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'

export type { KyselyInstance } from './kysely-connection.ts'
export type { DriverTraits } from './traits.ts'

export interface KyselySessionOptions {
  /** What Kysely does not tell of the driver below it: the `traits` that the driver's own adapter exports. */
  readonly driver: DriverTraits
}

/**
 * Sessions on the connections of a Kysely instance.
 *
 * Kysely cannot end one connection of its pool. `destroy` therefore waits for a statement that still runs, rolls back,
 * and takes everything off the connection before it goes back; one on which that fails although it is alive is kept
 * out of the pool for good, and `destroy` rejects.
 *
 * With `pg`, a connection that breaks while it is lent ends the process unless it has a listener:
 * `pool.on('connect', (client) => client.on('error', report))`.
 */
export function sessions(db: KyselyInstance, { driver }: KyselySessionOptions): Sessions {
  return { open: async () => sessionOf(await pin(db), driver) }
}

async function sessionOf(pinned: Pinned, driver: DriverTraits): Promise<Session> {
  const transactions = transactionsOn(pinned.db, driver)
  const runAll = async (statements: readonly SqlStatement[]): Promise<void> => {
    for (const statement of statements) await transactions.run(statement)
  }
  const restore = await change(transactions, driver.setting).catch(async (error: unknown) => {
    await pinned.release()
    throw error
  })
  const cleanUp = async (): Promise<void> => {
    await transactions.rollback()
    await runAll([...restore, ...driver.cleanUp])
  }
  return {
    ...transactions,
    release: async () => {
      await runAll(restore)
      await pinned.release()
    },
    destroy: async (why) => {
      if (!(await succeeds(cleanUp())) && (await succeeds(runAll([plain('SELECT 1')])))) {
        throw new Error('the connection is in doubt, and Kysely cannot end it: it is kept out of the pool', {
          cause: why,
        })
      }
      await pinned.release()
    },
  }
}

/** Kysely's own transactions, but for a BEGIN that Kysely has no word for. */
function transactionsOn(db: KyselyInstance, driver: DriverTraits): Omit<Session, 'release' | 'destroy'> {
  const failure = firstFailure()
  let transaction: KyselyTransaction | undefined
  const send = async ({ sql: text, params }: SqlStatement): Promise<readonly Row[]> => {
    // without plugins, which may rename the columns of the answer
    const { rows } = await (transaction ?? db)
      .withoutPlugins()
      .executeQuery(rawQuery(text, params.map(driver.toDriver)))
    return rows as readonly Row[]
  }
  return {
    run: (statement) => failure.watch(async () => send(sqlOnly(statement))),
    begin: async (start = {}) => {
      const text = driver.begin(start)
      failure.forget()
      if (text === undefined) transaction = await begin(db, start)
      else await send(plain(text))
    },
    commit: async () => {
      // Kysely does not tell that COMMIT was answered with a rollback. In a transaction that is still good, this works.
      const probe = async (): Promise<void> => {
        await send(plain('SAVEPOINT holdfast'))
        await send(plain('RELEASE SAVEPOINT holdfast'))
      }
      if (failure.error !== undefined && !(await succeeds(probe()))) throw nothingToCommit(failure.error)
      await (transaction === undefined ? send(plain('COMMIT')) : transaction.commit().execute())
      transaction = undefined
    },
    rollback: async () => {
      const ended = transaction?.rollback().execute() ?? send(plain('ROLLBACK'))
      transaction = undefined
      await ended.catch(async (error: unknown) => {
        // SQLite may have rolled back by itself, and refuses to do it again. It never refuses within a savepoint.
        const again = send(plain('SAVEPOINT holdfast')).then(() => send(plain('ROLLBACK')))
        if (!(await succeeds(again))) throw error
      })
    },
  }
}

function begin(db: KyselyInstance, { isolation, access }: TransactionStart): Promise<KyselyTransaction> {
  let builder = db.startTransaction()
  if (isolation !== undefined) builder = builder.setIsolationLevel(isolation)
  if (access !== undefined)
    builder = builder.setAccessMode(access === 'read-only' ? 'read only' : 'read write')
  return builder.execute()
}

/** Applies the setting. Gives the statements that put it back. */
async function change(
  { run }: Pick<Session, 'run'>,
  setting: SettingChange | undefined,
): Promise<readonly SqlStatement[]> {
  if (setting === undefined) return []
  const saved = setting.read && (await run(setting.read))[0]?.saved
  await run(setting.apply)
  return [restoreStatement(setting, saved)]
}

function plain(text: string): SqlStatement {
  return { sql: text, params: [] }
}

function succeeds(attempt: Promise<unknown>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  )
}
