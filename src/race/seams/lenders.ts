import { libraryOf } from '../../adapters/libraries.ts'
import { sessions as mysqlSessions } from '../../adapters/mysql2/sessions.ts'
import { mysqlPoolOf, pgPoolOf, type Lender } from '../../adapters/orm/lender.ts'
import { sessions as pgSessions } from '../../adapters/pg/sessions.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Gate } from '../gate.ts'
import { observerOf, type Observer } from '../observer.ts'
import type { Seam } from '../seam.ts'
import { watchCommands } from './mysql2-commands.ts'
import { lentOf as lentByMysql, type Connection } from './mysql2.ts'
import { held, lentOf as lentByPg, type Client } from './pg.ts'
import { replaced } from './replaced.ts'

/** The part of an ORM that lends connections of a pool of its own. */
interface Source {
  take(...args: unknown[]): Promise<object>
  give(connection: object): unknown
}

/** How an ORM calls that. */
interface Names {
  readonly sourceOf: (db: object) => object
  readonly take: string
  readonly give: string
}

/** An instance of Knex. */
export const knex: Seam = lenderSeam('knex', {
  sourceOf: (db) => (db as { readonly client: object }).client,
  take: 'acquireConnection',
  give: 'releaseConnection',
})

/** An instance of Sequelize. */
export const sequelize: Seam = lenderSeam('sequelize', {
  sourceOf: (db) => (db as { readonly connectionManager: object }).connectionManager,
  take: 'getConnection',
  give: 'releaseConnection',
})

function lenderSeam(entry: string, { sourceOf, take, give }: Names): Seam {
  const sources = new WeakMap<object, Source>()
  const reached = (db: object): Source => {
    const inside = sourceOf(db) as Readonly<Record<string, (...args: unknown[]) => unknown>>
    return {
      // with the methods that are there when they are called: they may be replaced
      take: async (...args) => (await inside[take]?.(...args)) as object,
      give: (connection) => inside[give]?.(connection),
    }
  }
  return {
    driver: entry,
    is: (db) => libraryOf(db)?.entry === entry,
    observe: (db) => observe(reached(db)),
    install: (db, gate) => {
      const source = reached(db)
      const note = (connection: object): unknown => sources.set(connection, source)
      const inside = sourceOf(db) as Record<string, (...args: unknown[]) => unknown>
      const watching = watchAll(gate, note)
      const putBack = [
        replaced(inside, take, (original) => lent(original.bind(inside), gate, watching.watch)),
        replaced(inside, give, (original) => (connection, ...rest) => {
          gate.giveBack(connection as object)
          return original.call(inside, connection, ...rest)
        }),
        watching.putBack,
      ]
      return () => putBack.forEach((put) => put())
    },
    end: async (connection, kill) => {
      ;(connection as Client).on('error', () => {}) // it tells of its end
      await kill()
      // the pool throws away what has ended; one that it has already is not taken twice
      await Promise.resolve(sources.get(connection)?.give(connection)).catch(() => {})
    },
  }
}

/** Looks through a connection of the ORM's own pool. */
function observe(source: Source): Observer {
  const lender = {
    lend: () => source.take({}),
    giveBack: (connection: object) => source.give(connection),
    discard: (connection: object) => source.give(connection),
  }
  let known: Observer | undefined
  const observer = async (): Promise<Observer> => (known ??= await observerFor(lender))
  return {
    look: async () => (await observer()).look(),
    self: async () => (await observer()).self(),
    kill: async (id) => (await observer()).kill(id),
    close: async () => {},
  }
}

async function nothing(): Promise<void> {}

/** What a connection is of is seen in one. */
async function observerFor(lender: Lender<object>): Promise<Observer> {
  const connection = await lender.lend()
  lender.giveBack(connection)
  const lending = <T>(): Lender<T> => lender as unknown as Lender<T>
  if (isPg(connection)) return observerOf(pgSessions(pgPoolOf(lending())), ['postgres'], nothing)
  if (isMysql(connection))
    return observerOf(mysqlSessions(mysqlPoolOf(lending())), ['mysql', 'mariadb'], nothing)
  throw new LockUsageError(
    'db',
    'has connections of a driver that cannot be held back: only pg and mysql2 can',
  )
}

function isPg(connection: object): connection is Client {
  return 'processID' in connection
}

function isMysql(connection: object): connection is Connection {
  return 'threadId' in connection
}

type Take = (...args: unknown[]) => unknown

function lent(original: Take, gate: Gate, watch: (connection: object) => void): Take {
  return async (...args) => {
    const actor = gate.current
    if (actor === undefined) return original(...args)
    if (actor.isOver) throw gate.refusal
    const came = gate.queue(actor)
    try {
      const connection = (await original(...args)) as object
      watch(connection)
      gate.lend(
        connection,
        actor,
        isPg(connection) ? lentByPg(connection) : lentByMysql(connection as Connection),
      )
      return connection
    } finally {
      came()
    }
  }
}

interface Watching {
  readonly watch: (connection: object) => void
  readonly putBack: () => void
}

function watchAll(gate: Gate, note: (connection: object) => void): Watching {
  const known = new WeakSet<object>()
  const commands = watchCommands(gate)
  const putBack = [commands.putBack]
  return {
    watch: (connection) => {
      if (known.has(connection)) return
      known.add(connection)
      note(connection)
      if (isPg(connection)) putBack.push(replaced(connection, 'query', (original) => held(original, gate)))
      else commands.watch(connection as Connection)
    },
    putBack: () => putBack.forEach((put) => put()),
  }
}
