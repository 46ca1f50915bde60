import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import type * as SqliteEntry from '../../src/entries/better-sqlite3.ts'
import type * as DrizzleEntry from '../../src/entries/drizzle.ts'
import type * as KnexEntry from '../../src/entries/knex.ts'
import type * as KyselyEntry from '../../src/entries/kysely.ts'
import type * as MariadbEntry from '../../src/entries/mariadb.ts'
import type * as Mysql2Entry from '../../src/entries/mysql2.ts'
import type * as PgEntry from '../../src/entries/pg.ts'
import type * as PrismaEntry from '../../src/entries/prisma.ts'
import { runCommand } from '../../test/engines/run-command.ts'

/** The entries of Holdfast that are measured. */
export interface Library {
  readonly pg: typeof PgEntry
  readonly kysely: typeof KyselyEntry
  readonly mysql2: typeof Mysql2Entry
  readonly mariadb: typeof MariadbEntry
  readonly drizzle: typeof DrizzleEntry
  readonly knex: typeof KnexEntry
  readonly prisma: typeof PrismaEntry
  readonly 'better-sqlite3': typeof SqliteEntry
}

const built = new URL('../../node_modules/.cache/holdfast-bench/', import.meta.url)
let building: Promise<void> | undefined

/**
 * Where the library is, compiled as it is published. What runs TypeScript as it stands gives each function its name
 * again whenever it is made, which costs more than some of the functions do.
 */
export async function publishedFolder(): Promise<URL> {
  building ??= build()
  await building
  return built
}

const names = ['pg', 'kysely', 'mysql2', 'mariadb', 'drizzle', 'knex', 'prisma', 'better-sqlite3'] as const

/** From the folder that {@link publishedFolder} gave, or, for those who only want to see it work, as it stands. */
export async function libraryIn(folder: string): Promise<Library> {
  if (folder === '') return asItStands()
  const entry = (name: string): Promise<unknown> =>
    import(/* @vite-ignore */ new URL(`entries/${name}.js`, folder).href)
  const entries = await Promise.all(names.map(async (name) => [name, await entry(name)] as const))
  return Object.fromEntries(entries) as unknown as Library
}

async function asItStands(): Promise<Library> {
  return {
    pg: await import('../../src/entries/pg.ts'),
    kysely: await import('../../src/entries/kysely.ts'),
    mysql2: await import('../../src/entries/mysql2.ts'),
    mariadb: await import('../../src/entries/mariadb.ts'),
    drizzle: await import('../../src/entries/drizzle.ts'),
    knex: await import('../../src/entries/knex.ts'),
    prisma: await import('../../src/entries/prisma.ts'),
    'better-sqlite3': await import('../../src/entries/better-sqlite3.ts'),
  }
}

async function build(): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  await rm(built, { recursive: true, force: true })
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
  const words = [tsc, '-p', `${root}tsconfig.build.json`, '--outDir', fileURLToPath(built)]
  await runCommand(process.execPath, words, { timeoutMs: 120_000 })
}
