import Database from 'better-sqlite3'
import { createInterface } from 'node:readline'
import pg from 'pg'

import { libraryIn } from './transactions/library.ts'

/*
 * What stays in memory of transactions that are over: `memory-child.ts <way> <url> <library's folder>`. Told a number, it
 * runs so many and answers with the bytes of the heap when all is collected that nobody can reach. When the input ends,
 * it ends.
 *
 * `<way>`: the database, and after a comma whether each transaction has a `new key`.
 */

const [way = '', url = '', folder = ''] = process.argv.slice(2)
const [engine, keys] = way.split(', ')

const library = await libraryIn(folder)
const { transact, close } = engine === 'sqlite' ? onSqlite() : onPg()

interface Ground {
  /** A named lock, a row lock under it, and a change. */
  readonly transact: (room: number) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

function onSqlite(): Ground {
  const database = new Database(':memory:')
  database.exec('create table room (id integer primary key, visits integer not null)')
  database.exec('insert into room (id, visits) values (1, 0)')
  const locks = library['better-sqlite3'].createLocks(database)
  return {
    transact: (room) =>
      locks.withLock(['room', room], async (tx) => {
        await locks.rows(tx, { table: 'room', key: { id: 1 } })
        tx.prepare('update room set visits = visits + 1 where id = ?').run(1)
      }),
    close: async () => database.close(),
  }
}

function onPg(): Ground {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const locks = library.pg.createLocks(pool)
  return {
    transact: (room) =>
      locks.withLock(['room', room], async (tx) => {
        await locks.rows(tx, { table: 'room', key: { id: 1 } })
        await tx.query('select $1::int', [room % 1000])
      }),
    close: () => pool.end(),
  }
}

const collect = globalThis.gc
if (collect === undefined) throw new Error('node --expose-gc memory-child.ts')

let room = 0
for await (const line of createInterface({ input: process.stdin })) {
  for (let left = Number(line); left > 0; left -= 1) {
    room += 1
    await transact(keys === 'new key' ? room : room % 1000)
  }
  // what is only let go of when others are gone takes another turn
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  process.stdout.write(`${process.memoryUsage().heapUsed}\n`)
}
await close()
