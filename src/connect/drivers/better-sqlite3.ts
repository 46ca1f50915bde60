import { sessions, type SqliteDatabase } from '../../adapters/better-sqlite3/sessions.ts'
import type { Driver, ScratchOrder } from '../driver.ts'
import { endable } from '../ending.ts'
import { besideFile, checkCanMake, existingFile, fileOf, firstBytes, isFile, removeFiles } from '../file.ts'
import { namesIn } from '../rows.ts'
import { otherLibraries } from './better-sqlite3-beside.ts'

type SqliteModule = new (file: string, options?: object) => SqliteDatabase

/** `better-sqlite3`, to a file. */
export const betterSqlite3: Driver = {
  name: 'better-sqlite3',
  // the second is how Prisma and others write it
  protocols: ['sqlite:', 'file:'],
  endings: ['.db', '.sqlite', '.sqlite3'],
  example: 'sqlite:./app.db',
  dialects: ['sqlite'],
  load: (module) => {
    const Database = module as SqliteModule
    new Database(':memory:').close()
  },
  open: async (module, url) => {
    const Database = module as SqliteModule
    const file = await existingFile(url)
    check(new Database(file, { fileMustExist: true, timeout: 1000 }))
    let isClosed = false
    const openHandle = (): SqliteDatabase => {
      if (isClosed) throw new Error('the database was closed')
      // a driver's own waiting would stop the process, and would be taken for a setting of the application
      return new Database(file, { fileMustExist: true, timeout: 0 })
    }
    return endable(sessions(openHandle), async () => void (isClosed = true))
  },
  failures: {
    SQLITE_NOTADB: 'address',
    SQLITE_READONLY: 'rights',
    SQLITE_PERM: 'rights',
    ERR_DLOPEN_FAILED: 'driver',
  },
  scratch,
  scratchNeeds: 'a writable folder',
  beside: otherLibraries,
  tables: (session) =>
    namesIn(
      session,
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    ),
}

/** Reads something of the file: opening it alone does not. */
function check(database: SqliteDatabase): void {
  try {
    database.pragma('schema_version')
  } finally {
    database.close()
  }
}

function scratch({ module, url, name }: ScratchOrder): ReturnType<Driver['scratch']> {
  const Database = module as SqliteModule
  const given = fileOf(url)
  const file = besideFile(given, `${name}.sqlite`)
  return {
    url: file,
    make: async () => {
      await checkCanMake(file)
      const database = new Database(file)
      if (await isLogged(given)) database.pragma('journal_mode = WAL')
      database.close()
    },
    drop: () => removeFiles(['', '-wal', '-shm', '-journal'].map((ending) => `${file}${ending}`)),
  }
}

/**
 * Whether the file says of itself that it has a write-ahead log; true where there is no file. Its first bytes tell,
 * so that it need not be opened as a database. https://www.sqlite.org/fileformat.html#file_format_version_numbers
 */
async function isLogged(file: string): Promise<boolean> {
  if (!(await isFile(file))) return true
  const version = (await firstBytes(file, 20))[18]
  return version === undefined || version === 2
}
