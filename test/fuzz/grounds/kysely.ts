import { CompiledQuery, Kysely, sql, type KyselyPlugin, type Transaction } from 'kysely'

import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { createLocks } from '../../../src/entries/kysely.ts'
import { dialects, type ServerName } from '../../entries/kysely-dialects.ts'
import type { Body } from '../body.ts'
import { embedded, hideTx, ofServer, poolSize, type Ground, type Way } from '../ground.ts'
import { overBadNetwork } from './bad-network.ts'
import { mysqlSettings } from './mysql2.ts'
import { postgresSettings } from './pg.ts'

interface Tables {
  readonly spot: { readonly id: number; readonly n: number }
}
type Tx = Transaction<Tables>

const settings: Readonly<Record<ServerName, string | undefined>> = {
  postgres: postgresSettings,
  mysql: mysqlSettings('mysql'),
  mariadb: mysqlSettings('mariadb'),
  sqlite: undefined,
}

/** A plugin that changes nothing. */
const idle: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => result,
}

/** Above READ COMMITTED the lock is taken before BEGIN, and whether it holds there is found out by a second connection. */
function asksForMore(engine: string): (body: Body) => boolean {
  return ({ call, options }) =>
    engine === 'postgres' &&
    call === 'withLock' &&
    (options.isolation ?? 'read committed') !== 'read committed'
}

function groundOn(url: string, engine: string, size: number = poolSize): Ground<Tx> {
  const name = engine as ServerName
  const db = new Kysely<Tables>({ dialect: dialects[name](url, size) })
  const locks = createLocks(db, { dialect: name })
  const isServer = name !== 'sqlite'
  const settingsOf = (): Promise<string> =>
    db
      .connection()
      .execute((one) => one.executeQuery<{ line: string }>(CompiledQuery.raw(settings[name] ?? '')))
      .then(({ rows }) => String(rows[0]?.line), String)
  return {
    ...(isServer ? ofServer : embedded),
    canKill: false,
    canStream: name === 'mysql' || name === 'mariadb',
    canDerive: true,
    locks,
    rows: (tx, { row, wait, ...lock }) =>
      locks.rows(tx, tx.selectFrom('spot').selectAll().where('id', '=', row), {
        ...lock,
        wait: wait === 'skip' && !isServer ? 'nowait' : wait,
      }),
    send: (tx, statement) => sql.raw(sqlOnly(statement).sql).execute(tx),
    say: (tx, word) => sql.raw(word).execute(tx),
    stream: async (tx, statement) => {
      const { sql: text } = sqlOnly(statement)
      const stream = tx.getExecutor().stream(CompiledQuery.raw(text), 1)
      for await (const _ of stream) {
        // read to its end
      }
    },
    inTransactionOf: (tx, work) => {
      // what is derived from a transaction says of itself whether it is one, and the usual helper believes it
      const derived: Kysely<Tables> = tx.withPlugin(idle)
      return derived.isTransaction ? work(derived as Tx) : derived.transaction().execute(work)
    },
    settings: async () =>
      settings[name] === undefined ? [] : Promise.all(Array.from({ length: size }, settingsOf)),
    close: () => db.destroy(),
  }
}

export const onKysely: readonly Way[] = [
  hideTx({
    title: 'kysely',
    engines: ['postgres', 'mysql', 'mariadb', 'sqlite'],
    open: async (url, engine) => groundOn(url, engine),
  }),
  hideTx({
    title: 'kysely, a bad network',
    isSlow: true,
    engines: ['postgres', 'mysql', 'mariadb'],
    open: (target, engine) =>
      overBadNetwork(target, engine, (url) => ({
        ...groundOn(url, engine, 1),
        isRefused: asksForMore(engine),
      })),
  }),
]
