import type { EngineName } from '../words.ts'
import type { Tap } from './tap.ts'

/** The driver of each engine, which is loaded when a program first runs on it. */
const drivers: Readonly<
  Partial<Record<EngineName, () => Promise<{ readonly openTap: () => Tap | Promise<Tap> }>>>
> = {
  postgres: () => import('./pg.ts'),
  mysql: () => import('./mysql2.ts'),
  mariadb: () => import('./mysql2.ts'),
  sqlite: () => import('./better-sqlite3.ts'),
  duckdb: () => import('./duckdb.ts'),
  mongodb: () => import('./mongodb.ts'),
}

const open = new Map<unknown, Promise<Tap>>()

/** Listens to the driver of an engine. A driver is tapped once in a process. */
export async function tapOf(engine: EngineName): Promise<Tap | undefined> {
  const driver = await drivers[engine]?.()
  if (driver === undefined) return undefined
  const tap = open.get(driver.openTap) ?? Promise.resolve(driver.openTap())
  open.set(driver.openTap, tap)
  return tap
}
