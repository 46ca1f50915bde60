import { traits as sqlite } from '../../adapters/better-sqlite3/sessions.ts'
import {
  rawQuery,
  type ConnectionProvider,
  type KyselyConnection,
  type KyselyInstance,
} from '../../adapters/kysely/connection.ts'
import { sessions, type DriverTraits } from '../../adapters/kysely/sessions.ts'
import { libraryOf } from '../../adapters/libraries.ts'
import { traits as mysql } from '../../adapters/mysql2/sessions.ts'
import { traits as pg } from '../../adapters/pg/traits.ts'
import { LockUsageError } from '../../core/errors.ts'
import { isSql } from '../../core/statement.ts'
import { registry, type DialectName } from '../../registry.ts'
import type { End } from '../actor.ts'
import type { Gate } from '../gate.ts'
import { observerOf } from '../observer.ts'
import type { Seam } from '../seam.ts'
import { withValues, type Answer } from '../seen.ts'
import { countIn, promised } from './promised.ts'
import { replaced } from './replaced.ts'

/** What an adapter of Kysely's own speaks to. */
interface Below {
  readonly dialects: readonly [DialectName, ...DialectName[]]
  readonly driver: DriverTraits
  /** Everybody shares one connection, and takes turns. */
  readonly isAlone?: true
}

const adapters: Readonly<Record<string, Below>> = {
  PostgresAdapter: { dialects: ['postgres'], driver: pg },
  MysqlAdapter: { dialects: ['mysql', 'mariadb'], driver: mysql },
  SqliteAdapter: { dialects: ['sqlite'], driver: sqlite, isAlone: true },
}

/** An instance of Kysely, on a pool or on a file of SQLite. */
export const kysely: Seam = {
  driver: 'kysely',
  is: (db) => libraryOf(db)?.entry === 'kysely',
  install: (db, gate) => install(db as KyselyInstance, gate),
  observe: (db) => {
    const { dialects, driver, isAlone } = belowOf(db as KyselyInstance)
    if (isAlone === true) return undefined
    return observerOf(sessions(db as KyselyInstance, { driver }), dialects, async () => {})
  },
  end: async (connection, kill) => {
    await kill()
    // one that the server has ended cannot be told; one that everybody shares is needed again
    await (connection as KyselyConnection).executeQuery(rawQuery('ROLLBACK', [])).catch(() => {})
  },
}

function belowOf(db: KyselyInstance): Below {
  const { adapter } = db.getExecutor() as unknown as { readonly adapter: object }
  const below = adapters[adapter.constructor.name]
  if (below !== undefined) return below
  throw new LockUsageError(
    'db',
    `Kysely's ${adapter.constructor.name} is not known here: pass the pool beneath it`,
  )
}

async function install(db: KyselyInstance, gate: Gate): Promise<() => void> {
  const { dialects, isAlone } = belowOf(db)
  const { self } = (await registry[dialects[0]].tools()).inspector
  const ids = new WeakMap<object, string>()
  const idOf = async (connection: KyselyConnection): Promise<string | undefined> => {
    if (self === undefined || !isSql(self)) return undefined
    const known = ids.get(connection)
    if (known !== undefined) return known
    const { rows } = await connection.executeQuery(rawQuery(self.sql, []))
    const id = String((rows[0] as { readonly id: unknown }).id)
    ids.set(connection, id)
    return id
  }
  const executor = db.getExecutor()
  const lending = { gate, idOf, users: new Set<object>() }
  return replaced(executor, 'provideConnection', (original) =>
    isAlone === true ? inTurn(original, lending) : lent(original, lending),
  )
}

interface Lending {
  readonly gate: Gate
  readonly idOf: (connection: KyselyConnection) => Promise<string | undefined>
  /** Who has the only connection. */
  readonly users: Set<object>
}

type Provide = ConnectionProvider['provideConnection']

function lent(original: Provide, { gate, idOf }: Lending): Provide {
  return async function provideConnection(this: ConnectionProvider, work, ...rest) {
    const actor = gate.current
    if (actor === undefined) return original.call(this, work, ...rest) as ReturnType<typeof work>
    if (actor.isOver) throw gate.refusal
    const came = gate.queue(actor)
    const using = async (connection: KyselyConnection): Promise<unknown> => {
      gate.lend(connection, actor, { id: await idOf(connection) })
      came()
      const putBack = replaced(connection, 'executeQuery', (execute) => held(connection, execute, gate))
      try {
        return await work(connection)
      } finally {
        putBack()
        gate.giveBack(connection)
      }
    }
    try {
      return (await original.call(this, using, ...rest)) as Awaited<ReturnType<typeof work>>
    } finally {
      came()
    }
  }
}

/**
 * Where everybody shares one connection, whoever asks for it is held back before, and not with it: else nobody else
 * could take a step. The first statement goes with that step; those behind it are held back as usual.
 */
function inTurn(original: Provide, { gate, users }: Lending): Provide {
  return function provideConnection(this: ConnectionProvider, work, ...rest) {
    const actor = gate.current
    if (actor === undefined) return original.call(this, work, ...rest) as ReturnType<typeof work>
    const place = {}
    gate.lend(place, actor)
    return new Promise((resolve, reject) => {
      const send = async (end: End): Promise<unknown> => {
        const using = (connection: KyselyConnection): Promise<unknown> => {
          users.add(place)
          gate.lend(connection, actor)
          const putBack = replaced(connection, 'executeQuery', firstFree(connection, gate, end))
          return Promise.resolve(work(connection)).finally(() => {
            putBack()
            users.delete(place)
            gate.giveBack(connection)
          })
        }
        try {
          return await original.call(this, using, ...rest)
        } finally {
          gate.giveBack(place)
          end(undefined)
        }
      }
      gate.hold(place, {
        text: 'the only connection',
        isStuck: () => users.size > 0 && !users.has(place),
        send: (end) => void send(once(end)).then(resolve as (value: unknown) => void, reject),
        refuse: reject,
      })
    })
  }
}

/** Only the first call counts. */
function once(end: End): End {
  let isOver = false
  return (...args) => {
    if (isOver) return
    isOver = true
    end(...args)
  }
}

function firstFree(connection: KyselyConnection, gate: Gate, end: End): (execute: Execute) => Execute {
  return (execute) => {
    const later = held(connection, execute, gate)
    let isFirst = true
    return async (query) => {
      if (!isFirst) return later(query)
      isFirst = false
      const text = withValues(query.sql, query.parameters)
      gate.sent(connection, query.sql)
      try {
        const result = await execute.call(connection, query)
        end(undefined, answerOf(query.sql, result), text)
        return result
      } catch (error) {
        end(error, undefined, text)
        throw error
      }
    }
  }
}

type Execute = KyselyConnection['executeQuery']

function held(connection: KyselyConnection, execute: Execute, gate: Gate): Execute {
  return (query) =>
    gate.isHolding(connection)
      ? promised(gate, connection, {
          text: query.sql,
          values: query.parameters,
          send: () => execute.call(connection, query),
          answerOf: (result) => answerOf(query.sql, result),
        })
      : execute.call(connection, query)
}

function answerOf(text: string, result: object): Answer {
  const { rows, numAffectedRows } = result as {
    readonly rows?: readonly unknown[]
    readonly numAffectedRows?: bigint
  }
  if (rows !== undefined && rows.length > 0) return { rows }
  return numAffectedRows === undefined ? {} : countIn(text, numAffectedRows)
}
