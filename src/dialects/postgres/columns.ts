import type { SqlStatement } from '../../core/statement.ts'
import type { BesideLock } from '../named-lock.ts'

/** A lock that is waited for: with the columns beside it, and the name of its key at the end. */
const waitingLock =
  /^SELECT (?<columns>.*\bpg_advisory_xact_lock(?:_shared)?\((?:[^()]|\([^()]*\))*\).*?)(?<name> \/\*.*)?$/

/**
 * A lock with columns before and behind it: one statement less, for the server to plan and for the driver to read. The
 * server computes columns from left to right. Undefined for a statement that is no such lock.
 */
export function withColumns(lock: SqlStatement, { before, behind }: BesideLock): SqlStatement | undefined {
  const { columns, name = '' } = waitingLock.exec(lock.sql)?.groups ?? {}
  if (columns === undefined) return undefined
  const all = [before, columns, behind].filter((one) => one !== undefined)
  return { ...lock, sql: `SELECT ${all.join(', ')}${name}` }
}
