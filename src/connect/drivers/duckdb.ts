import { sessions, type DuckdbInstance } from '../../adapters/duckdb/sessions.ts'
import { describeAddress } from '../address.ts'
import { ConnectError } from '../connect-error.ts'
import type { Driver, ScratchOrder } from '../driver.ts'
import { endable } from '../ending.ts'
import { besideFile, checkCanMake, existingFile, fileOf, firstBytes, removeFiles } from '../file.ts'
import { namesIn } from '../rows.ts'

interface DuckdbModule {
  readonly DuckDBInstance: { fromCache(file: string): Promise<OwnInstance> }
}

interface OwnInstance extends DuckdbInstance {
  closeSync(): void
}

/** `@duckdb/node-api`, to a file. */
export const duckdb: Driver = {
  name: '@duckdb/node-api',
  protocols: ['duckdb:'],
  endings: ['.duckdb'],
  example: 'duckdb:./app.duckdb',
  dialects: ['duckdb'],
  open: async (module, url) => {
    const { DuckDBInstance } = module as DuckdbModule
    // each instance is a handle of its own on a database that all of this process share
    const instance = await DuckDBInstance.fromCache(await ownFile(url))
    const own = closable(instance)
    return endable(sessions(own), own.close)
  },
  failures: { ERR_DLOPEN_FAILED: 'driver' },
  scratch,
  scratchNeeds: 'a writable folder',
  tables: (session) =>
    namesIn(
      session,
      'SELECT table_name AS name FROM information_schema.tables WHERE table_catalog = current_database()',
    ),
}

/** Closing an instance while a connection to it is being made crashes the process (seen on 1.5.5), so that comes first. */
function closable(instance: OwnInstance): DuckdbInstance & { readonly close: () => Promise<void> } {
  const connecting = new Set<Promise<unknown>>()
  return {
    connect: () => {
      const connection = instance.connect()
      connecting.add(connection)
      const forget = (): void => void connecting.delete(connection)
      connection.then(forget, forget)
      return connection
    },
    close: async () => {
      while (connecting.size > 0) await Promise.allSettled(connecting)
      instance.closeSync()
    },
  }
}

/** DuckDB also opens tables of other kinds, such as JSON, and says nothing. Its own files have a mark. */
async function ownFile(url: string): Promise<string> {
  const file = await existingFile(url)
  if ((await firstBytes(file, 12)).subarray(8).toString() === 'DUCK') return file
  throw new ConnectError('address', `${describeAddress(url)} is not a DuckDB file`)
}

function scratch({ module, url, name }: ScratchOrder): ReturnType<Driver['scratch']> {
  const { DuckDBInstance } = module as DuckdbModule
  const file = besideFile(fileOf(url), `${name}.duckdb`)
  return {
    url: file,
    make: async () => {
      await checkCanMake(file)
      const made = await DuckDBInstance.fromCache(file)
      made.closeSync()
    },
    drop: () => removeFiles([file, `${file}.wal`]),
  }
}
