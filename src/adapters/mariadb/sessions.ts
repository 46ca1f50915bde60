import { LockUsageError } from '../../core/errors.ts'
import { released, type Session, type Sessions } from '../../core/session.ts'
import { watchLoss, type LossEvents } from '../connection-loss.ts'
import { Flight } from '../flight.ts'
import { mustHave } from '../must-have.ts'
import { endThread } from '../mysql2/end-thread.ts'
import { Line } from '../mysql2/line.ts'
import { statementsOn } from '../mysql2/statements.ts'
import { queryBy, wireOf, type MariadbQuery } from './command.ts'
import { coreOf, type Command, type CoreConnection } from './core.ts'
import { transactionView } from './view.ts'

export type { MariadbQuery } from './command.ts'

/** What is used of the pool of `mariadb`. */
export interface MariadbPool<Connection = MariadbConnection> {
  getConnection(): Promise<Connection>
}

/** What is used of a connection of `mariadb`. */
export interface MariadbConnection extends LossEvents {
  readonly threadId: number | null
  query(query: string | MariadbQuery): Promise<unknown>
  release(): Promise<void>
  destroy(): void
}

/**
 * Sessions on the connections of a pool of `mariadb`, to MariaDB or MySQL. The caller's work receives the pool's own
 * connection.
 */
export function sessions<Connection extends MariadbConnection>(
  pool: MariadbPool<Connection>,
): Sessions<Connection> {
  mustHave(pool, {
    field: 'pool',
    from: 'mariadb',
    methods: ['getConnection'],
    pass: 'a pool of mariadb, as in createLocks(createPool(url))',
  })
  return { adapter: 'mariadb', source: pool, open: async () => sessionOf(await connectionOf(pool), pool) }
}

/** A pool of `mariadb/callback` gives nothing where no callback is given. */
async function connectionOf<Connection>(pool: MariadbPool<Connection>): Promise<Connection> {
  const asked: unknown = pool.getConnection()
  if (asked instanceof Promise) return asked as Promise<Connection>
  throw new LockUsageError('pool', 'answers by callbacks: pass a pool of mariadb, not of mariadb/callback')
}

function sessionOf<Connection extends MariadbConnection>(
  own: Connection,
  pool: MariadbPool,
): Session<Connection> {
  const core = coreOf(own)
  const line = lineOf(core, own)
  const loss = watchLoss(own)
  const flight = new Flight()
  const threadId = own.threadId ?? 0
  let isLent = true
  const giveBack = (): void => {
    isLent = false
    line.giveBack()
  }
  line.lend()
  return {
    tx: transactionView(own, { isLent: () => isLent, flight }),
    ...statementsOn(line, () => isLent),
    untilIdle: () => untilIdle(line, flight),
    release: () => {
      loss.stop()
      giveBack()
      // the pool looks after the connection before somebody else gets it, and destroys it where that fails
      void own.release()
      return released
    },
    destroy: async (why) => {
      // first, so that the driver sees nothing under way: it would end that by itself, with an error that nobody catches
      line.cancel(why)
      core.receiveQueue.clear()
      own.destroy()
      giveBack()
      await endThread(pool, threadId)
    },
    onLost: loss.onLost,
    whyLost: loss.whyLost,
    witness: line.body,
  }
}

/** A call can be under way with none of its commands being so: the next one comes when its promise has been told. */
function untilIdle(line: Line<Command>, flight: Flight): Promise<void> | undefined {
  const waited = line.untilIdle()
  if (waited === undefined && !flight.isBusy) return undefined
  return (async () => {
    do {
      await line.untilIdle()
      await flight.untilNone()
    } while (line.untilIdle() !== undefined || flight.isBusy)
  })()
}

const lines = new WeakMap<CoreConnection, Line<Command>>()

/** A pool gives another object each time for the connection beneath, which stays the same. */
function lineOf(core: CoreConnection, connection: MariadbConnection): Line<Command> {
  const line = lines.get(core) ?? new Line({ ...wireOf(core), query: queryBy(connection) })
  lines.set(core, line)
  return line
}
