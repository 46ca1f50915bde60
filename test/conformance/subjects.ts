import { Kysely } from 'kysely'

import { traits as betterSqlite3 } from '../../src/adapters/better-sqlite3.ts'
import { sessions, type DriverTraits } from '../../src/adapters/kysely.ts'
import { traits as mysql2 } from '../../src/adapters/mysql2.ts'
import { traits as pg } from '../../src/adapters/pg.ts'
import type { Connected, Subject } from '../../src/conformance/subject.ts'
import { openUrl } from '../../src/connect/open.ts'
import type { DialectName } from '../../src/registry.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'

/** The drivers below Kysely, for the engines that it reaches here. */
const drivers: Readonly<Record<ServerName, DriverTraits>> = {
  postgres: pg,
  mysql: mysql2,
  mariadb: mysql2,
  sqlite: betterSqlite3,
}

/** The ways to an engine: by its own driver, and through Kysely. */
export function adaptersOf(engine: string): readonly ('driver' | 'kysely')[] {
  return isServerName(engine) ? ['driver', 'kysely'] : ['driver']
}

export function subjectOf(engine: string, adapter: 'driver' | 'kysely', url: string): Subject {
  return {
    title: `${engine} through ${adapter}`,
    adapter,
    dialects: [engine as DialectName],
    ...(engine === 'mongodb' && { application: appNameIn(url) }),
    connect: (size) =>
      adapter === 'kysely' && isServerName(engine) ? connectKysely(engine, url) : openUrl(url, size),
  }
}

/** The server tells our transactions from those of other test files by it. */
function appNameIn(url: string): string {
  return new URL(url).searchParams.get('appName') ?? ''
}

function isServerName(engine: string): engine is ServerName {
  return Object.hasOwn(drivers, engine)
}

/** Kysely has one connection to an SQLite file, and four to a server. */
async function connectKysely(engine: ServerName, url: string): Promise<Connected> {
  const db = new Kysely<unknown>({ dialect: dialects[engine](url) })
  const own = sessions(db, { driver: drivers[engine] })
  return { sessions: own, size: engine === 'sqlite' ? 1 : 4, close: () => db.destroy() }
}
