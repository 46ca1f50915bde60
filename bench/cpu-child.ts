import pg from 'pg'

import { sourceLibrary, type Library } from './transactions/library.ts'

/*
 * What a transaction costs the processor of its client: `<url> <how> <transactions> <warm-up>`. Prints microseconds of
 * user time for each. By hand it sends the very messages that Holdfast sends, so that what is more is Holdfast's own.
 */

const [url = '', how = '', count = '', warmUp = '', folder = ''] = process.argv.slice(2)

const pool = new pg.Pool({ connectionString: url, max: 1 })
const library: Pick<Library, 'pg'> =
  folder === '' ? await sourceLibrary() : { pg: (await import(`${folder}entries/pg.js`)) as Library['pg'] }
const locks = library.pg.createLocks(pool)

async function body(client: Pick<pg.PoolClient, 'query'>, room: number): Promise<void> {
  await client.query('select slot from booking where room = $1 and slot = $2', [room, -1])
}

async function byHand(room: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query(
      `BEGIN; SET LOCAL lock_timeout = 10000; SELECT pg_advisory_xact_lock('${room}'::bigint) /* hf:room.${room} */; ` +
        'SELECT pg_current_xact_id()::text AS id',
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

const ways: Readonly<Record<string, (room: number) => Promise<void>>> = {
  holdfast: (room) => locks.withLock(['room', room], (tx) => body(tx, room), { lockTimeoutMs: 10_000 }),
  byHand,
}

const run = ways[how] ?? byHand
for (let done = 0; done < Number(warmUp); done += 1) await run(done % 1000)
const before = process.cpuUsage()
for (let done = 0; done < Number(count); done += 1) await run(done % 1000)
console.log(process.cpuUsage(before).user / Number(count))
await pool.end()
