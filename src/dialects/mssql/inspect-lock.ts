import type { LockKind, LockSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { lockSeen, textOf } from '../inspect-session.ts'

const kinds: Readonly<Record<string, LockKind>> = {
  KEY: 'row',
  RID: 'row',
  PAGE: 'table',
  HOBT: 'table',
  OBJECT: 'table',
  ROW_GROUP: 'table',
  OIB: 'table',
  APPLICATION: 'name',
  METADATA: 'metadata',
  // under optimized locking a changed row is waited for as the transaction that changed it
  XACT: 'transaction',
}

/** What a row of `sys.dm_tran_locks` is in words. */
export function describeLock(row: Row): LockSeen {
  const type = String(row.type)
  const name = type === 'APPLICATION' ? applicationName(String(row.description)) : undefined
  return lockSeen({
    kind: kinds[type] ?? 'database',
    mode: String(row.mode),
    on: name?.on ?? resource(type, row),
    key: name?.key,
  })
}

/**
 * The server shows `<principal>:[<the first 32 characters>]:(<hash>)`. Those hold the whole readable part of a key of
 * ours, and the colon behind it.
 */
function applicationName(description: string): { readonly on: string; readonly key: string | undefined } {
  const [, start, hash] = /^\d+:\[?(.*?)\]?:(\(\w+\))$/s.exec(description.trim()) ?? []
  if (start === undefined || hash === undefined) return { on: `name ${description}`, key: undefined }
  return { on: `name ${start} ${hash}`, key: /^hf:([a-z0-9._-]{1,28}):/.exec(start)?.[1] }
}

function resource(type: string, row: Row): string {
  const count = Number(row.locks)
  if (type === 'KEY' || type === 'RID') return `${count > 1 ? `${count} rows` : 'a row'} of ${table(row)}`
  if (type === 'PAGE') return `${count > 1 ? `${count} pages` : 'a page'} of ${table(row)}`
  if (type === 'OBJECT' || type === 'HOBT') return `table ${table(row)}`
  if (type === 'XACT') return `transaction ${String(row.description)}`.trim()
  return [type.toLowerCase(), textOf(row.database_name), textOf(row.description)].filter(Boolean).join(' ')
}

/** Only the names of the connection's own database can be told. */
function table(row: Row): string {
  const name = textOf(row.table_name)
  if (name === undefined) return `number ${String(row.entity)} of ${String(row.database_name)}`
  const index = textOf(row.index_name)
  return `${String(row.schema_name)}.${name}${index === undefined ? '' : ` (index ${index})`}`
}
