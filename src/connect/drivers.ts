import { ConnectError } from './connect-error.ts'
import type { Driver } from './driver.ts'
import { betterSqlite3 } from './drivers/better-sqlite3.ts'
import { duckdb } from './drivers/duckdb.ts'
import { mongodb } from './drivers/mongodb.ts'
import { mssql } from './drivers/mssql.ts'
import { mysql2 } from './drivers/mysql2.ts'
import { pg } from './drivers/pg.ts'

/** The one list of drivers. */
const drivers: readonly Driver[] = [pg, mysql2, betterSqlite3, duckdb, mssql, mongodb]

/** How the address of a server is written, by one that is not there without a server. */
export const serverExample: string = mysql2.example

/** The driver for an address, by what the address begins with, or by how the file's name ends. */
export function findDriver(url: string): Driver {
  // one letter is a drive
  const protocol = /^[a-z][a-z0-9+.-]+:/i.exec(url)?.[0].toLowerCase()
  const byEnding = (): Driver | undefined => {
    const [path = ''] = url.split(/[?#]/, 1)
    return drivers.find(({ endings = [] }) => endings.some((ending) => path.endsWith(ending)))
  }
  const found =
    (protocol === undefined || protocol === 'file:' ? byEnding() : undefined) ??
    drivers.find(({ protocols }) => protocol !== undefined && protocols.includes(protocol))
  if (found !== undefined) return found
  const examples = drivers.map(({ example }) => example).join(', ')
  if (url.trim() === '') throw new ConnectError('address', `the address is empty: write one like ${examples}`)
  // only what a slash follows is a protocol for sure, and no part of a log-in
  const named = protocol !== undefined && url.startsWith('//', protocol.length)
  throw new ConnectError(
    'address',
    `${named ? `no driver is known for ${protocol}//` : 'the address has no protocol'}: write one like ${examples}`,
  )
}
