import type { ScratchSubject } from 'holdfast/conformance'

import type { Connection, Database } from '../databases/database.ts'
import type { Arguments, Telling } from './arguments.ts'
import { openPlace } from './place.ts'

/** A database that a story has to itself; at the end it is taken away. */
export interface Story extends Arguments, AsyncDisposable {
  /** Connects as each process of an application does, with at most so many connections. */
  readonly connect: (size?: number) => Promise<StoryConnection>
  /**
   * A place that each of `count` parties passes when all of them have come to it: between reading and writing, it makes
   * sure that the bug shows. With the lock everybody passes: there the second cannot read before the first has written.
   */
  readonly meeting: (count: number) => () => Promise<void>
}

/** A story hands transactions on and never looks inside, so their type is forgotten. */
export interface StoryConnection extends Omit<Connection<unknown>, 'close'> {
  /** Runs the work as code without locks does. */
  readonly unlocked: <T>(work: (tx: unknown) => Promise<T>) => Promise<T>
}

/** Loaded only when one is asked for: the drivers of the others need not be there. */
const databases: Readonly<Record<string, () => Promise<{ readonly database: unknown }>>> = {
  'better-sqlite3': () => import('../databases/sqlite.ts'),
  '@duckdb/node-api': () => import('../databases/duckdb.ts'),
  pg: () => import('../databases/postgres.ts'),
  mysql2: () => import('../databases/mysql.ts'),
  mssql: () => import('../databases/mssql.ts'),
  mongodb: () => import('../databases/mongodb.ts'),
}

/** Reads the command line and makes a database beside the one that it names. Ends the process where it cannot. */
export async function openStory(telling: Telling): Promise<Story> {
  const place = await openPlace(telling)
  const { url, scratch, atEnd } = place
  const database = await databaseOf(scratch)
  return {
    ...place,
    connect: async (size = 10) => {
      const one = await database.connect({ url, name: scratch.database, size })
      atEnd(() => one.close())
      return { ...one, unlocked: unlockedOn(one, database) }
    },
  }
}

async function databaseOf({ adapter }: ScratchSubject): Promise<Database<unknown>> {
  const load = databases[adapter]
  if (load === undefined) throw new Error(`the examples have no file for ${adapter}`)
  return (await load()).database as Database<unknown>
}

function unlockedOn(
  { locks }: Connection<unknown>,
  { isBlindToOthers }: Database<unknown>,
): StoryConnection['unlocked'] {
  return isBlindToOthers
    ? (work) => locks.transaction(work, { isolation: 'read committed' })
    : (work) => work(undefined)
}
