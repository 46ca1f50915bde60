import type { Connected, Database } from './database.ts'

/** Loaded only when one is asked for: the drivers of the others need not be there. */
const databases: Readonly<Record<string, () => Promise<{ readonly create: unknown }>>> = {
  sqlite: () => import('./sqlite.ts'),
  duckdb: () => import('./duckdb.ts'),
  postgres: () => import('./postgres.ts'),
  mysql: () => import('./mysql.ts'),
  mariadb: () => import('./mysql.ts'),
}

export interface OpenDatabase extends Pick<Database, 'isolation' | 'connect'>, AsyncDisposable {}

/** Makes a database on the engine that the command line names. At the end it is taken away. */
export async function openDatabase(): Promise<OpenDatabase> {
  const [name = 'sqlite'] = process.argv.slice(2)
  const load = databases[name]
  if (load === undefined)
    throw new Error(
      `there is no ${name} here, but ${Object.keys(databases).join(', ')}; MongoDB has a folder`,
    )
  // A story hands a transaction on and never looks inside, so its type is forgotten here.
  const create = (await load()).create as (name: string) => Promise<Database>
  const { connect, drop, isolation } = await create(name)
  const connected: Connected[] = []
  return {
    isolation,
    connect: async () => {
      const one = await connect()
      connected.push(one)
      return one
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of connected) await one.close()
      await drop()
    },
  }
}
