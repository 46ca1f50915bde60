import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

import { loadDuckdb } from './duckdb-driver.ts'
import { openDuckdbSession, type DuckdbSession } from './duckdb-session.ts'
import { embeddedSource } from './embedded-source.ts'
import type { Engine, EngineKind, EngineSample, Server } from './engine.ts'
import { databaseName } from './own-database.ts'

/**
 * Makes a database file in the server's folder. No other process can open it while this one has it, so a test that
 * needs a second process cannot be run on DuckDB.
 */
async function connect(server: Server): Promise<Engine> {
  const file = join(server.url, `${databaseName()}.duckdb`)
  const driver = await loadDuckdb()
  // from the cache: two instances of one file would know nothing of each other, although both open without an error
  const instance = await driver.DuckDBInstance.fromCache(file)
  const open = new Map<string, DuckdbSession>()
  let opened = 0
  return {
    server: { ...server, url: file },
    canObserveWaiting: false, // nobody ever waits: conflicts are errors
    isWaiting: () => turn(false), // who asks in a loop must let the rest of this process go on
    open: async () => {
      const id = `connection ${(opened += 1)}` // DuckDB gives no name to a connection
      const session = openDuckdbSession(driver, await instance.connect(), id)
      open.set(id, session)
      return session
    },
    kill: async ({ id }) => open.get(id)?.close(),
    leftovers: async () => {
      const sessions = [...open.values()]
      const states = await Promise.all(sessions.map((session) => session.hasTransaction()))
      return sessions.filter((_, index) => states[index]).map(({ id }) => `${id}: open transaction`)
    },
    close: async () => {
      await Promise.all([...open.values()].map((session) => session.close()))
      instance.closeSync()
      for (const ending of ['', '.wal']) await rm(`${file}${ending}`, { force: true })
    },
  }
}

const sample: EngineSample = {
  setUp: [
    { sql: 'create table counter (id integer primary key, n integer not null)', params: [] },
    { sql: 'insert into counter values (1, 0)', params: [] },
  ],
  increment: { sql: 'update counter set n = n + 1 where id = $1', params: [1] },
  read: { sql: 'select n from counter where id = $1', params: [1] },
  contests: [
    {
      over: 'a row',
      hold: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
      want: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
    },
  ],
}

const duckdb: EngineKind = {
  name: 'duckdb',
  sources: [
    embeddedSource({
      engine: 'duckdb',
      version: async () => (await loadDuckdb()).version().replace(/^v/, ''),
    }),
  ],
  connect,
  sample,
}

export default duckdb
