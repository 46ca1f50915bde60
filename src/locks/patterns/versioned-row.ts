import {
  checkKeyValue,
  checkName,
  checkObject,
  checkTableName,
  onlyKnown,
  show,
} from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { TableName } from '../../core/request.ts'
import type { Row, Value } from '../../core/statement.ts'
import type { Changes } from '../../dialects/claim.ts'
import type { VersionedRow } from '../../dialects/optimistic.ts'

/** One row, and the column that has its version: a whole number that rises with every change. */
export interface VersionedTarget {
  /** The table of the row. */
  readonly table: TableName
  /** The columns that name the one row, such as `{ id: 1 }`. */
  readonly key: Readonly<Record<string, Value>>
  /** The column with the number that every write raises by one. @default 'version' */
  readonly version?: string
}

/** A write that is stored only if the row still has the version that was read. */
export interface VersionedUpdate extends VersionedTarget {
  /** The version that was read, as the driver gave it: some give a whole number as text. */
  readonly expected: number | bigint | string
  /** The columns to change. The version is counted up by itself. */
  readonly set: Changes
}

export function checkVersioned(target: VersionedTarget): VersionedRow {
  checkObject('target', target)
  onlyKnown(target, ['table', 'key', 'version'])
  const { table, key, version = 'version' } = target
  const columns = Object.entries(key ?? {})
  if (columns.length === 0) throw new LockUsageError('key', 'names no column, so it would match every row')
  for (const [column, value] of columns) {
    checkName('key', column)
    if (value === null || Array.isArray(value))
      throw new LockUsageError(`key.${column}`, 'must be one value: a version belongs to one row')
    checkKeyValue(`key.${column}`, value)
  }
  return { table: checkTableName('table', table), key, version: checkName('version', version) }
}

export function checkUpdate(update: VersionedUpdate): {
  readonly row: VersionedRow
  readonly expected: number
  readonly set: Changes
} {
  checkObject('update', update)
  const { expected, set, ...target } = update
  const row = checkVersioned(target)
  return { row, expected: wholeNumber('expected', expected), set: checkChanges(row, set) }
}

export function checkChanges({ version }: VersionedRow, set: Changes): Changes {
  checkObject('set', set)
  for (const [column, value] of Object.entries(set)) {
    checkName('set', column)
    if (column === version) throw new LockUsageError(`set.${column}`, 'is incremented by the change itself')
    if (value === undefined) throw new LockUsageError(`set.${column}`, 'is undefined: pass null to clear it')
  }
  return set
}

/** The version of a row as it was read. */
export function versionIn(found: Row, { table, version }: VersionedRow): number {
  const value = found[version]
  if (value !== null && value !== undefined) return wholeNumber('version', value)
  throw new LockUsageError('version', `a row of ${nameOf(table)} has no number in ${version}: give it one`)
}

function wholeNumber(field: string, value: unknown): number {
  const isText = typeof value === 'string' && /^-?\d+$/.test(value)
  const number = isText || typeof value === 'bigint' ? Number(value) : value
  if (!Number.isSafeInteger(number) || typeof number !== 'number')
    throw new LockUsageError(field, `${show(value)} is not a whole number that JavaScript holds exactly`)
  return number
}

export function describeRow({ table, key }: VersionedRow): string {
  const columns = Object.entries(key).map(([column, value]) => `${column} = ${show(value)}`)
  return `${nameOf(table)} with ${columns.join(' and ')}`
}

function nameOf(table: TableName): string {
  return typeof table === 'string' ? table : table.join('.')
}
