import { Kysely, MysqlDialect, PostgresDialect, sql, type Generated } from 'kysely'
import { createPool as createCallbackPool } from 'mysql2'
import mysql from 'mysql2/promise'
import pg from 'pg'

import { connectorByHand, onConnector } from './connector-stocks.ts'
import type { Library } from './library.ts'
import { checkLeft, type Place, type Shop, type StockEngine } from './stock-shop.ts'

interface StockTables {
  readonly stock: { readonly id: Generated<number>; readonly pieces: number }
}

const lockTimeoutMs = 10_000
export const articles = 1000

const schema: readonly string[] = [
  'drop table if exists stock',
  'create table stock (id int primary key, pieces int not null)',
  `insert into stock values ${Array.from({ length: articles }, (_, id) => `(${id}, 1000000)`).join(', ')}`,
]

type Open = (library: Library, place: Place) => Shop

export const names = {
  holdfast: 'Holdfast',
  riding: 'Holdfast, pipeline: true',
  byHand: 'by hand',
  kysely: 'Holdfast on Kysely',
  kyselyByHand: 'Kysely by hand',
  connector: 'Holdfast on the mariadb connector',
  connectorByHand: 'the mariadb connector by hand',
} as const

const shops: Readonly<Record<string, Open>> = {
  [names.holdfast]: (library, place) =>
    place.engine === 'postgres' ? onPg(library, place, false) : onMysql(library, place),
  [names.riding]: (library, place) => onPg(library, place, true),
  [names.byHand]: (_, place) => (place.engine === 'postgres' ? pgByHand(place) : mysqlByHand(place)),
  [names.kysely]: onKysely,
  [names.kyselyByHand]: (_, place) => kyselyByHand(place),
  [names.connector]: onConnector,
  [names.connectorByHand]: (_, place) => connectorByHand(place),
}

/** Not every way leads to every engine. */
const only: Readonly<Record<string, StockEngine>> = {
  [names.riding]: 'postgres',
  [names.connector]: 'mariadb',
  [names.connectorByHand]: 'mariadb',
}

/** The names of the ways that there are on an engine. */
export function waysOn(engine: StockEngine): readonly string[] {
  return Object.keys(shops).filter((name) => (only[name] ?? engine) === engine)
}

export function shopOf(name: string, library: Library, place: Place): Shop | undefined {
  return shops[name]?.(library, place)
}

/** An article has enough pieces for every round. */
export async function stockUp(engine: StockEngine, url: string): Promise<void> {
  if (engine === 'postgres') {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    for (const statement of schema) await client.query(statement)
    await client.end()
  } else {
    const connection = await mysql.createConnection({ uri: url })
    for (const statement of schema) await connection.query(statement)
    await connection.end()
  }
}

function onPg(library: Library, { url, connections }: Place, pipeline: boolean): Shop {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const locks = library.pg.createLocks(pool, pipeline ? { pipeline } : {})
  return {
    sell: (id) =>
      locks.transaction(
        async (tx) => {
          const [row] = await locks.rows<{ pieces: number }>(tx, { table: 'stock', key: { id } })
          checkLeft(row?.pieces)
          await tx.query('update stock set pieces = pieces - 1 where id = $1', [id])
        },
        { lockTimeoutMs },
      ),
    close: () => pool.end(),
  }
}

function pgByHand({ url, connections }: Place): Shop {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const sell: Shop['sell'] = async (id) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      const { rows } = await client.query<{ pieces: number }>(
        'select pieces from stock where id = $1 for update',
        [id],
      )
      checkLeft(rows[0]?.pieces)
      await client.query('update stock set pieces = pieces - 1 where id = $1', [id])
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  }
  return { sell, close: () => pool.end() }
}

/** Without a timeout of its own, as is usual there: to set it and to put it back are two round trips. */
function onMysql(library: Library, { url, connections }: Place): Shop {
  const pool = mysql.createPool({ uri: url, connectionLimit: connections })
  const locks = library.mysql2.createLocks(pool)
  return {
    sell: (id) =>
      locks.transaction(async (tx) => {
        const [row] = await locks.rows<{ pieces: number }>(tx, { table: 'stock', key: { id } })
        checkLeft(row?.pieces)
        await tx.query('update stock set pieces = pieces - 1 where id = ?', [id])
      }),
    close: () => pool.end(),
  }
}

function mysqlByHand({ url, connections }: Place): Shop {
  const pool = mysql.createPool({ uri: url, connectionLimit: connections })
  const sell: Shop['sell'] = async (id) => {
    const connection = await pool.getConnection()
    try {
      await connection.beginTransaction()
      const [rows] = await connection.query<mysql.RowDataPacket[]>(
        'select pieces from stock where id = ? for update',
        [id],
      )
      checkLeft(rows[0]?.pieces as number | undefined)
      await connection.query('update stock set pieces = pieces - 1 where id = ?', [id])
      await connection.commit()
    } catch (error) {
      await connection.rollback()
      throw error
    } finally {
      connection.release()
    }
  }
  return { sell, close: () => pool.end() }
}

function onKysely(library: Library, place: Place): Shop {
  const { engine } = place
  const db = kyselyOf(place)
  const locks = library.kysely.createLocks(db, { dialect: engine })
  const timeout = engine === 'postgres' ? { lockTimeoutMs } : {}
  return {
    sell: (id) => locks.transaction((trx) => sellThrough(trx, id), timeout),
    close: () => db.destroy(),
  }
}

function kyselyByHand(place: Place): Shop {
  const db = kyselyOf(place)
  const sell: Shop['sell'] = (id) =>
    db.transaction().execute(async (trx) => {
      if (place.engine === 'postgres')
        await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(trx)
      await sellThrough(trx, id)
    })
  return { sell, close: () => db.destroy() }
}

async function sellThrough(db: Kysely<StockTables>, id: number): Promise<void> {
  const row = await db
    .selectFrom('stock')
    .select('pieces')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  checkLeft(row?.pieces)
  await db
    .updateTable('stock')
    .set((eb) => ({ pieces: eb('pieces', '-', 1) }))
    .where('id', '=', id)
    .execute()
}

function kyselyOf({ engine, url, connections }: Place): Kysely<StockTables> {
  const dialect =
    engine === 'postgres'
      ? new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: connections }) })
      : new MysqlDialect({ pool: createCallbackPool({ uri: url, connectionLimit: connections }) })
  return new Kysely<StockTables>({ dialect })
}
