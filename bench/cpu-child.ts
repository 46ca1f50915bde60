import { AsyncLocalStorage } from 'node:async_hooks'
import { createInterface } from 'node:readline'
import pg from 'pg'

import { libraryIn } from './transactions/library.ts'

/*
 * What a transaction costs the processor of its client: `cpu-child.ts <url> <way> <library's folder>`. Told a number, it
 * runs so many transactions and answers with the microseconds of user time for each. When the input ends, it ends.
 *
 * By hand it sends the very messages that Holdfast sends, so that what is more is Holdfast's own.
 */

const [url = '', way = '', folder = ''] = process.argv.slice(2)

const pool = new pg.Pool({ connectionString: url, max: 1 })
const locks = (await libraryIn(folder)).pg.createLocks(pool)

async function body(client: Pick<pg.PoolClient, 'query'>, room: number): Promise<void> {
  await client.query('select slot from booking where room = $1 and slot = $2', [room, -1])
}

async function byHand(room: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query(
      `BEGIN; SET LOCAL lock_timeout = 10000; SELECT pg_advisory_xact_lock('${room}'::bigint), ` +
        `pg_current_xact_id() AS id /* hf:room.${room} */`,
    )
    await body(client, room)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

const holdfast = (room: number): Promise<void> =>
  locks.withLock(['room', room], (tx) => body(tx, room), { lockTimeoutMs: 10_000 })

let newest = 0

const ways: Readonly<Record<string, (room: number) => Promise<void>>> = {
  holdfast,
  holdfastNewKeys: () => holdfast((newest += 1)),
  byHand,
  byHandBesideStorage: byHand,
}

const run = ways[way]
if (run === undefined) throw new Error(`${way} is no way`)
// before Node 24, one use of it anywhere makes every promise of the process dearer
if (way === 'byHandBesideStorage') new AsyncLocalStorage().run({}, () => {})

let room = 0
for await (const line of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage()
  for (let left = Number(line); left > 0; left -= 1) await run((room = (room + 1) % 1000))
  process.stdout.write(`${process.cpuUsage(before).user / Number(line)}\n`)
}
await pool.end()
