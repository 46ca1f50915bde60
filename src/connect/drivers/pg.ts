import { sessions, type PgClient, type PgPool } from '../../adapters/pg/sessions.ts'
import type { Connected } from '../../conformance/subject.ts'
import type { Session } from '../../core/session.ts'
import { intoDatabase } from '../address.ts'
import type { Driver, ScratchOrder } from '../driver.ts'
import { endable } from '../ending.ts'
import { limits } from '../limits.ts'
import { namesIn, sql } from '../rows.ts'
import { atMost } from '../within.ts'

interface PgModule {
  readonly Pool: new (options: object) => OwnPool
  readonly Client: new (config: object) => OwnClient
}

interface OwnPool extends PgPool {
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

interface OwnClient extends PgClient {
  readonly connection?: PgClient['connection'] & { readonly stream: { destroy(): void } }
  end(): Promise<void>
}

/** `pg`, to PostgreSQL and what speaks its protocol. */
export const pg: Driver = {
  name: 'pg',
  protocols: ['postgres:', 'postgresql:'],
  example: 'postgres://user:password@localhost:5432/database',
  dialects: ['postgres'],
  open: async (module, url, size) => open(module as PgModule, url, size),
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  failures: { '28P01': 'login', '28000': 'login', '3D000': 'address', '42501': 'rights', '25006': 'rights' },
  // pg 8.23 itself, where the server wants a password and the address has none
  loginText: /^SASL: .*password must be/,
  scratch,
  scratchNeeds: 'CREATEDB for this role',
  currentDatabase: sql('SELECT current_database() AS name'),
  // what an extension brought is not the user's
  tables: (session) =>
    namesIn(
      session,
      `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
          AND NOT EXISTS (SELECT 1 FROM pg_depend d
                           WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`,
    ),
}

function open({ Pool, Client }: PgModule, url: string, size: number): Connected {
  const clients = new Set<OwnClient>()
  // The pool's own limit for connecting would also cut the wait for a connection that is in use.
  class Limited extends Client {
    constructor(config: object) {
      super({ ...config, connectionTimeoutMillis: limits.openMs })
      clients.add(this)
      this.on('error', ignore)
      this.on('end', () => clients.delete(this))
    }
  }
  const pool = new Pool({ connectionString: url, max: size, Client: Limited })
  pool.on('error', ignore) // an idle connection that breaks is replaced
  return endable(sessions(pool), async () => {
    void pool.end()
    const isOver = await atMost(limits.goodbyeMs, Promise.all([...clients].map((client) => client.end())))
    if (!isOver) for (const client of clients) client.connection?.stream.destroy()
  })
}

/** From template0, which nobody can be connected to. */
function scratch({ url, name, reach }: ScratchOrder): ReturnType<Driver['scratch']> {
  const make = sql(`CREATE DATABASE "${name}" TEMPLATE template0`)
  return {
    url: intoDatabase(url, name),
    make: () => reach(url, (session) => session.run(make)),
    drop: () => reach(url, (session) => drop(session, name)),
  }
}

async function drop(session: Session, name: string): Promise<void> {
  const [row] = await session.run(sql('SHOW server_version_num'))
  const canForce = Number(row?.server_version_num) >= 130_000
  if (!canForce) {
    await session.run({
      sql: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = current_user',
      params: [name],
    })
  }
  await session.run(sql(`DROP DATABASE IF EXISTS "${name}"${canForce ? ' WITH (FORCE)' : ''}`))
}

function ignore(): void {}
