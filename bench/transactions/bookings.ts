import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'

import type { Library } from './library.ts'

/** One way to book a slot of a room: look whether it is taken, and take it, under the room's lock. */
export interface Way {
  readonly name: string
  readonly book: (room: number, slot: number) => Promise<void>
  readonly close: () => Promise<void>
}

export const names = {
  pg: 'Holdfast on pg',
  riding: 'Holdfast on pg, pipeline: true',
  batch: 'Holdfast on pg, batch',
  kysely: 'Holdfast on Kysely',
  pgByHand: 'pg by hand',
  kyselyByHand: 'Kysely by hand',
} as const

export interface BookingTables {
  readonly booking: { readonly room: number; readonly slot: number }
}

export const schema = [
  'create table if not exists booking (room int not null, slot int not null, primary key (room, slot))',
  'truncate booking',
] as const

const taken = 'select slot from booking where room = $1 and slot = $2'
const take = 'insert into booking (room, slot) values ($1, $2)'
const lockTimeoutMs = 10_000

/** As an application does it that has thought of the timeout. */
function pgByHand({ url, connections }: Address): Way {
  const pool = poolOf(url, connections)
  const book: Way['book'] = async (room, slot) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`room ${room}`])
      await bookOn(client, room, slot)
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  }
  return { name: names.pgByHand, book, close: () => pool.end() }
}

function kyselyByHand({ url, connections }: Address): Way {
  const db = kyselyOf(url, connections)
  const book: Way['book'] = (room, slot) =>
    db.transaction().execute(async (trx) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(trx)
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`room ${room}`}, 0))`.execute(trx)
      await bookThrough(trx, room, slot)
    })
  return { name: names.kyselyByHand, book, close: () => db.destroy() }
}

function onPg({ pg: { createLocks } }: Library, { url, connections }: Address, isRiding: boolean): Way {
  const pool = poolOf(url, connections, isRiding)
  const locks = createLocks(pool, isRiding ? { pipeline: true } : {})
  return {
    name: isRiding ? names.riding : names.pg,
    book: (room, slot) => locks.withLock(['room', room], (tx) => bookOn(tx, room, slot), { lockTimeoutMs }),
    close: () => pool.end(),
  }
}

/** All that is done is known beforehand: it is one message. */
function asBatch({ pg: { createLocks } }: Library, { url, connections }: Address): Way {
  const pool = poolOf(url, connections)
  const locks = createLocks(pool)
  const book: Way['book'] = async (room, slot) => {
    const params = [room, slot]
    const looking = { sql: taken, params, expect: { rows: 0 } }
    const booked = await locks.batch(['room', room], [looking, { sql: take, params }], { lockTimeoutMs })
    if (booked === undefined) throw new Error(`slot ${slot} of room ${room} is taken`)
  }
  return { name: names.batch, book, close: () => pool.end() }
}

function onKysely({ kysely: { createLocks } }: Library, { url, connections }: Address): Way {
  const db = kyselyOf(url, connections)
  const locks = createLocks(db, { dialect: 'postgres' })
  return {
    name: names.kysely,
    book: (room, slot) =>
      locks.withLock(['room', room], (trx) => bookThrough(trx, room, slot), { lockTimeoutMs }),
    close: () => db.destroy(),
  }
}

/** Where a way leads, and how many connections it may have. */
export interface Address {
  readonly url: string
  readonly connections: number
}

/** The way of this name; undefined when it is none of ours. */
export function wayOf(name: string, library: Library, address: Address): Way | undefined {
  if (name === names.pg) return onPg(library, address, false)
  if (name === names.riding) return onPg(library, address, true)
  if (name === names.batch) return asBatch(library, address)
  if (name === names.kysely) return onKysely(library, address)
  if (name === names.pgByHand) return pgByHand(address)
  return name === names.kyselyByHand ? kyselyByHand(address) : undefined
}

export async function bookOn(
  client: Pick<pg.PoolClient, 'query'>,
  room: number,
  slot: number,
): Promise<void> {
  const { rows } = await client.query(taken, [room, slot])
  if (rows.length > 0) throw new Error(`slot ${slot} of room ${room} is taken`)
  await client.query(take, [room, slot])
}

async function bookThrough(db: Kysely<BookingTables>, room: number, slot: number): Promise<void> {
  const rows = await db
    .selectFrom('booking')
    .select('slot')
    .where('room', '=', room)
    .where('slot', '=', slot)
    .execute()
  if (rows.length > 0) throw new Error(`slot ${slot} of room ${room} is taken`)
  await db.insertInto('booking').values({ room, slot }).execute()
}

export function poolOf(connectionString: string, max: number, pipeline = false): pg.Pool {
  return new pg.Pool({ connectionString, max, ...(pipeline && { pipeline }) })
}

function kyselyOf(url: string, connections: number): Kysely<BookingTables> {
  return new Kysely<BookingTables>({ dialect: new PostgresDialect({ pool: poolOf(url, connections) }) })
}
