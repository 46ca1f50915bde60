import type { Driver } from './shop.ts'

/** The driver for each engine; loaded only when it is asked for. */
const drivers: Readonly<Record<string, () => Promise<{ readonly driver: unknown }>>> = {
  postgres: () => import('./drivers/pg.ts'),
  mysql: () => import('./drivers/mysql2.ts'),
  mariadb: () => import('./drivers/mariadb.ts'),
  sqlite: () => import('./drivers/better-sqlite3.ts'),
  duckdb: () => import('./drivers/duckdb.ts'),
  mongodb: () => import('./drivers/mongodb.ts'),
}

export const engines: readonly string[] = Object.keys(drivers)

/** The stories never look inside a transaction, so its type is forgotten here. */
export async function loadDriver(engine: string): Promise<Driver> {
  const load = drivers[engine]
  if (load === undefined) throw new Error(`the stories have no driver for ${engine}`)
  return (await load()).driver as Driver
}
