import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { CommitOutcomeUnknownError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/pg.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'

/** What the trigger waits for, which runs when the transaction commits. */
const lock = 4711

const journal = [
  'create table journal (n integer)',
  `create function wait_at_commit() returns trigger language plpgsql as
     'begin perform pg_advisory_xact_lock_shared(${lock}); return null; end'`,
  `create constraint trigger late after insert on journal deferrable initially deferred
     for each row execute function wait_at_commit()`,
]

/** Other test files wait on the same server, in databases of their own. */
const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`

const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  test('a transaction that is still being committed when nobody can wait longer is not run again', async () => {
    const { engine } = context
    const holder = await engine.open()
    undo.push(() => holder.close())
    const say = (sql: string): Promise<readonly object[]> => holder.run({ sql, params: [] })
    for (const sql of journal) await say(sql)
    const pool = new pg.Pool({ connectionString: engine.server.url, max: 2 })
    pool.on('error', () => {})
    undo.push(() => pool.end())
    let client: OpenClient | undefined
    pool.on('acquire', (acquired) => (client = acquired as unknown as OpenClient))
    await say(`select pg_advisory_lock(${lock})`)
    let runs = 0
    const outcome = caught(
      createLocks(pool).transaction(async (tx) => {
        runs += 1
        if (runs > 1) throw new Error('run again')
        await tx.query('insert into journal values (1)')
      }),
    )
    const waits = async (): Promise<boolean> => (await say(waiting)).length > 0
    await until(waits, 'a COMMIT that waits')
    // a COMMIT that can be cancelled is known to be lost; this one cannot be, by somebody who has forgotten the key
    if (client === undefined) throw new Error('no connection was used')
    client.secretKey += 1
    // only this end of the connection is gone: the server does not look for it while it waits
    client.connection.stream.destroy()
    expect(await outcome).toBeInstanceOf(CommitOutcomeUnknownError)
    expect(runs).toBe(1)
    await say(`select pg_advisory_unlock(${lock})`)
  })
}

/** What is not public of a client. */
interface OpenClient {
  secretKey: number
  readonly connection: { readonly stream: { readonly destroy: () => void } }
}
