import { LockUsageError } from '../../core/errors.ts'
import { released, type Session, type Sessions } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import { watchLoss, type LossEvents } from '../connection-loss.ts'
import { mustHave } from '../must-have.ts'
import { isUnsent, toMysql, wireOf, type Command, type CoreConnection, type Mysql2Query } from './command.ts'
import { endThread } from './end-thread.ts'
import { Line } from './line.ts'
import { isMarkThere, setMark } from './mark.ts'
import { withoutAutocommit } from './server-status.ts'
import { beginTexts, statementsOn } from './statements.ts'
import { transactionView } from './view.ts'
import { fateWords } from './words.ts'
import { fateBy } from '../statement-fate.ts'
import { succeeds } from '../succeeds.ts'
import type { DriverTraits } from '../traits.ts'
import { headTexts } from '../transaction-start.ts'

export type { Mysql2Query } from './command.ts'

/** What is used of the pool of `mysql2/promise`. */
export interface Mysql2Pool<Connection = Mysql2Connection> {
  getConnection(): Promise<Connection>
}

/** What is used of a connection of `mysql2/promise`. */
export interface Mysql2Connection extends LossEvents {
  readonly threadId: number
  readonly connection?: object
  query(query: string | Mysql2Query): Promise<readonly [unknown, unknown]>
  release(): void
  destroy(): void
}

/**
 * Sessions on the connections of a `mysql2/promise` pool, to MySQL or MariaDB. The caller's work receives the pool's
 * own connection.
 */
export function sessions<Connection extends Mysql2Connection>(
  pool: Mysql2Pool<Connection>,
): Sessions<Connection> {
  mustBePool(pool)
  return { adapter: 'mysql2', source: pool, open: async () => sessionOf(await pool.getConnection(), pool) }
}

function mustBePool(pool: object): void {
  mustHave(pool, {
    field: 'pool',
    from: 'mysql2',
    methods: ['getConnection'],
    pass: 'a pool of mysql2/promise, as in createLocks(createPool({ uri }))',
  })
  if ('promise' in pool)
    throw new LockUsageError('pool', 'answers by callbacks: pass pool.promise(), or a pool of mysql2/promise')
}

function sessionOf<Connection extends Mysql2Connection>(
  own: Connection,
  pool: Mysql2Pool,
): Session<Connection> {
  const line = lineOf(coreOf(own))
  const loss = watchLoss(own)
  let isLent = true
  const giveBack = (): void => {
    isLent = false
    line.giveBack()
  }
  line.lend()
  return {
    tx: transactionView(own, () => isLent),
    ...statementsOn(line, () => isLent),
    untilIdle: () => line.untilIdle(),
    release: () => {
      loss.stop()
      giveBack()
      own.release()
      return released
    },
    destroy: async (why) => {
      own.destroy()
      line.cancel(why)
      giveBack()
      await endThread(pool, own.threadId)
    },
    onLost: loss.onLost,
    whyLost: loss.whyLost,
    witness: line.body,
  }
}

const lines = new WeakMap<CoreConnection, Line<Command>>()

function lineOf(core: CoreConnection): Line<Command> {
  const line = lines.get(core) ?? new Line(wireOf(core))
  lines.set(core, line)
  return line
}

/**
 * The connection beneath the one of promises, for each of which `mysql2` notes the stack of whoever sends. That takes
 * longer than all else that it does.
 */
function coreOf({ connection }: Mysql2Connection): CoreConnection {
  const core: Partial<CoreConnection> = connection ?? {}
  if (typeof core.addCommand === 'function') return core as CoreConnection
  throw new LockUsageError('pool', 'is not a pool of mysql2/promise')
}

/**
 * Outside of a transaction there is no savepoint to release. MariaDB 10.5 has one all the same after a deadlock has
 * undone the transaction, but says itself that none is open; for MySQL that is a comment.
 */
async function isInTransaction(send: (text: string) => Promise<readonly Row[]>): Promise<boolean> {
  try {
    await send('SAVEPOINT holdfast')
    await send('RELEASE SAVEPOINT holdfast')
    const [row] = await send('SELECT 1 /*M! AND @@in_transaction */ AS is_open, @@autocommit AS commits')
    if (Number(row?.is_open) !== 1) return false
    // with autocommit off a savepoint is there without a transaction; only in one is this refused
    return Number(row?.commits) === 1 || !(await succeeds(send('SET TRANSACTION READ WRITE')))
  } catch {
    return false
  }
}

/** For libraries that send their statements through `mysql2`. */
export const traits: DriverTraits = {
  isUnsent,
  begin: (start) => [...beginTexts(start), ...headTexts(start)],
  beginsBy: true,
  body: { fateOf: fateBy(fateWords), isEndedByErrors: true },
  isInTransaction,
  mark: { set: setMark, isThere: isMarkThere },
  check: async (send) => {
    const [row] = await send('SELECT @@SESSION.autocommit AS isOn')
    if (Number(row?.isOn) !== 1) throw withoutAutocommit()
  },
  toDriver: toMysql,
  cleanUp: [{ sql: 'KILL CONNECTION_ID()', params: [] }],
}
