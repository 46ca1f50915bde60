import { join } from 'node:path'
import { findDialect } from '../../registry.ts'
import type { Driver } from '../driver.ts'
import { betterSqlite3 } from '../drivers/better-sqlite3.ts'
import { duckdb } from '../drivers/duckdb.ts'
import { pg } from '../drivers/pg.ts'
import { loadDriver } from '../load-module.ts'
import { openScratch, subjectOn, type ScratchSubject } from '../scratch.ts'
import type { Making } from './making.ts'
import { buildNames, startPostgres } from './postgres.ts'
import { inFolder } from './temporary-folder.ts'

/** A database that comes with npm packages, and needs no server of the user's. */
export interface EmbeddedEngine {
  readonly title: string
  /** What its subject is called. */
  readonly subjectTitle: string
  /** What must be installed. */
  readonly packages: readonly string[]
  /** Rejects, with the reason, where it cannot be had. */
  readonly open: (making: Making) => Promise<ScratchSubject>
}

/** The one list of them. */
export const engines: readonly EmbeddedEngine[] = [
  engine(betterSqlite3, [], () => openFile(betterSqlite3, 'embedded.sqlite')),
  engine(duckdb, [], () => openFile(duckdb, 'embedded.duckdb')),
  engine(pg, buildNames, openPostgres),
]

function engine(driver: Driver, more: readonly string[], open: EmbeddedEngine['open']): EmbeddedEngine {
  return { title: databaseOf(driver), subjectTitle: titleOf(driver), packages: [driver.name, ...more], open }
}

function openFile(driver: Driver, name: string): Promise<ScratchSubject> {
  return inFolder(async ({ path }) => ({ ...(await openScratch(join(path, name))), title: titleOf(driver) }))
}

async function openPostgres(making: Making): Promise<ScratchSubject> {
  await loadDriver(pg)
  return inFolder(async (folder) => {
    const { url, stop } = await startPostgres(folder, making)
    return subjectOn({ url, database: 'postgres', drop: stop }, { driver: pg, title: titleOf(pg) })
  })
}

function titleOf(driver: Driver): string {
  return `${databaseOf(driver)}, embedded, through ${driver.name}`
}

function databaseOf({ dialects }: Driver): string {
  return dialects.map((dialect) => findDialect(dialect).title).join(', ')
}
