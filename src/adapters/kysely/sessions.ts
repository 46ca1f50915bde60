import { restoreStatement, type SettingChange } from '../../core/plan.ts'
import type { Session, Sessions } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import {
  pin,
  rawQuery,
  type KyselyConnection,
  type KyselyExecutor,
  type KyselyInstance,
  type KyselyPluginLike,
  type Pinned,
} from './connection.ts'
import { watchConnection, type WatchedConnection } from './body.ts'
import { transactionControl } from './control.ts'
import { asTransaction, whileOpen, type TransactionOf } from './transaction.ts'
import { mustHave } from '../must-have.ts'
import { sqlOnly } from '../statement-kind.ts'
import { succeeds } from '../succeeds.ts'
import type { DriverTraits } from '../traits.ts'
import { hasEnded, mannerOf, type Manner } from '../transaction-body.ts'

export type { KyselyInstance } from './connection.ts'
export type { TransactionOf } from './transaction.ts'
export type { DriverTraits } from '../traits.ts'

export interface KyselySessionOptions {
  /** What Kysely does not tell of the driver below it: the `traits` that the driver's own adapter exports. */
  readonly driver: DriverTraits
  /** Put on every transaction, behind the plugins of the instance. */
  readonly plugin?: KyselyPluginLike
}

/**
 * Sessions on the connections of a Kysely instance.
 *
 * Kysely cannot end one connection of its pool. `destroy` therefore waits for a statement that still runs, rolls back,
 * and takes everything off the connection before it goes back; one on which that fails although it is alive is kept
 * out of the pool for good, and `destroy` rejects.
 */
export function sessions<Db extends KyselyInstance>(
  db: Db,
  options: KyselySessionOptions,
): Sessions<TransactionOf<Db>> {
  mustHave(db, {
    field: 'db',
    from: 'kysely',
    methods: ['connection', 'withPlugin'],
    pass: 'an instance of Kysely, as in createLocks(new Kysely({ dialect }), { dialect: name })',
  })
  return {
    adapter: 'kysely',
    source: db,
    open: async () => {
      const pinned = await pin(db)
      const guarding = options.driver.guard?.(pinned.connection)
      if (guarding !== undefined) await guarding
      return sessionOf(pinned, options)
    },
  }
}

async function sessionOf<Trx>(pinned: Pinned, options: KyselySessionOptions): Promise<Session<Trx>> {
  const { driver } = options
  const watched = watchConnection(pinned.connection, driver)
  const own = transactionsOn<Trx>(pinned, options, watched)
  // Who was given up may be about to send its next statement: it must not reach a connection that is another's by then.
  let isOver = false
  const giveBack = (): Promise<void> => {
    isOver = true
    watched.unwatch()
    return pinned.release()
  }
  // free of the transaction, which has ended or is about to, however it was left
  const runAll = async (statements: readonly SqlStatement[]): Promise<void> => {
    for (const statement of statements) await own.send(statement, 'free')
  }
  const restore = await prepare(own, pinned.connection, driver).catch(async (error: unknown) => {
    await giveBack()
    throw error
  })
  const cleanUp = async (): Promise<void> => {
    await own.rollback()
    await runAll([...restore, ...driver.cleanUp])
  }
  return {
    tx: own.tx,
    run: (statement) => (isOver ? givenBack() : own.run(statement)),
    begin: (start) => (isOver ? givenBack() : own.begin(start)),
    commit: () => (isOver ? givenBack() : own.commit()),
    rollback: own.rollback,
    witness: watched.body,
    ...perhaps(own, driver),
    release: () => (restore.length === 0 ? giveBack() : runAll(restore).then(giveBack)),
    destroy: async (why) => {
      isOver = true
      if (!(await succeeds(cleanUp())) && (await succeeds(runAll([{ sql: 'SELECT 1', params: [] }])))) {
        throw keptOut(why)
      }
      await giveBack()
    },
  }
}

/** What not every session has. */
function perhaps(
  { run, stored, untilIdle }: Pick<Session, 'run' | 'stored' | 'untilIdle'>,
  { beginsBy, check }: DriverTraits,
): Pick<Session, 'stored' | 'untilIdle' | 'beginsBy'> {
  return {
    ...(stored && { stored }),
    ...(untilIdle && { untilIdle }),
    ...(beginsBy && { beginsBy: async () => check?.((sql) => run({ sql, params: [] })) }),
  }
}

function keptOut(cause: Error): Error {
  return new Error('the connection is in doubt, and Kysely cannot end it: it is kept out of the pool', {
    cause,
  })
}

function givenBack(): Promise<never> {
  return Promise.reject(hasEnded())
}

interface Statements<Trx> extends Omit<Session<Trx>, 'release' | 'destroy'> {
  readonly send: (statement: SqlStatement, manner: Manner) => Promise<readonly Row[]>
}

function transactionsOn<Trx>(
  { db, connection }: Pinned,
  { driver, plugin }: KyselySessionOptions,
  watched: WatchedConnection,
): Statements<Trx> {
  // without plugins, which may rename the columns of the answer
  const bare = db.withoutPlugins()
  const sendOn =
    (to: () => KyselyExecutor | KyselyConnection) =>
    async ({ sql, params }: SqlStatement, manner: Manner): Promise<readonly Row[]> => {
      const { rows } = await to().executeQuery(rawQuery(sql, params.map(driver.toDriver), manner))
      return rows as readonly Row[]
    }
  const sendFirst = sendOn(() => connection)
  const send = sendOn(() => (watched.hasCut() ? connection : bare))
  const control = transactionControl(connection, {
    send: (sql, manner) => send({ sql, params: [] }, manner),
    sendFirst: (sql, manner) => sendFirst({ sql, params: [] }, manner),
    settle: () => db.getExecutor().provideConnection(async () => {}),
    watched,
    driver,
  })
  const { body } = watched
  return {
    tx: asTransaction<Trx>(
      { db, connection, isLent: watched.isWatched, running: watched.running },
      whileOpen(() => body.isOpen, plugin),
    ),
    run: async (statement) => {
      const sql = sqlOnly(statement)
      return send(sql, mannerOf(sql))
    },
    send,
    ...control,
  }
}

const checked = new WeakSet<KyselyConnection>()

/** Looks at a connection that was never used before. Gives the statements that undo what is changed for the session. */
async function prepare(
  own: Pick<Session, 'run'>,
  connection: KyselyConnection,
  { check, setting }: DriverTraits,
): Promise<readonly SqlStatement[]> {
  if (check !== undefined && !checked.has(connection)) {
    await check((sql) => own.run({ sql, params: [] }))
    checked.add(connection)
  }
  return change(own, setting)
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
