import * as kysely28 from 'kysely'
import * as kysely29 from 'kysely-0.29'

import { traits as betterSqlite3 } from '../../src/adapters/better-sqlite3/sessions.ts'
import { sessions, type DriverTraits, type KyselyInstance } from '../../src/adapters/kysely/sessions.ts'
import { traits as mysql2 } from '../../src/adapters/mysql2/sessions.ts'
import { traits as pg } from '../../src/adapters/pg/traits.ts'
import type { Connected, Subject } from '../../src/conformance/subject.ts'
import { openUrl } from '../../src/connect/open.ts'
import type { DialectName } from '../../src/registry.ts'
import { dialectsOf, type KyselyDialects, type ServerName } from '../entries/kysely-dialects.ts'

/** The drivers below Kysely, for the engines that it reaches here. */
const drivers: Readonly<Record<ServerName, DriverTraits>> = {
  postgres: pg,
  mysql: mysql2,
  mariadb: mysql2,
  sqlite: betterSqlite3,
}

interface OwnKysely extends KyselyInstance {
  destroy(): Promise<void>
}

interface KyselyRelease<D> extends KyselyDialects<D> {
  readonly Kysely: new (config: { readonly dialect: D }) => OwnKysely
}

/** The releases of Kysely, by the names that their packages have here. */
const releases = {
  kysely: opening<kysely28.Dialect>(kysely28),
  'kysely-0.29': opening<kysely29.Dialect>(kysely29),
}

function opening<D>(release: KyselyRelease<D>): (engine: ServerName, url: string) => OwnKysely {
  const dialects = dialectsOf(release)
  return (engine, url) => new release.Kysely({ dialect: dialects[engine](url) })
}

/** A way to an engine: by its own driver, or through a release of Kysely. */
export type Adapter = 'driver' | keyof typeof releases

/** The ways to an engine that every test takes: by its own driver, and through Kysely. */
export function adaptersOf(engine: string): readonly ('driver' | 'kysely')[] {
  return isServerName(engine) ? ['driver', 'kysely'] : ['driver']
}

/** All ways to an engine. */
export function allAdaptersOf(engine: string): readonly Adapter[] {
  return isServerName(engine) ? ['driver', ...Object.keys(releases).filter(isRelease)] : ['driver']
}

export function subjectOf(engine: string, adapter: Adapter, url: string): Subject {
  return {
    title: `${engine} through ${adapter}`,
    adapter,
    dialects: [engine as DialectName],
    ...(engine === 'mongodb' && { application: appNameIn(url) }),
    connect: (size) =>
      isRelease(adapter) && isServerName(engine)
        ? connectKysely(engine, url, releases[adapter])
        : openUrl(url, size),
  }
}

/** The server tells our transactions from those of other test files by it. */
function appNameIn(url: string): string {
  return new URL(url).searchParams.get('appName') ?? ''
}

function isServerName(engine: string): engine is ServerName {
  return Object.hasOwn(drivers, engine)
}

function isRelease(adapter: string): adapter is keyof typeof releases {
  return Object.hasOwn(releases, adapter)
}

/** Kysely has one connection to an SQLite file, and four to a server. */
async function connectKysely(
  engine: ServerName,
  url: string,
  open: (typeof releases)[keyof typeof releases],
): Promise<Connected> {
  const db = open(engine, url)
  const own = sessions(db, { driver: drivers[engine] })
  return { sessions: own, size: engine === 'sqlite' ? 1 : 4, close: () => db.destroy() }
}
