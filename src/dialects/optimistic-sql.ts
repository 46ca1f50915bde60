import type { SqlStatement, Value } from '../core/statement.ts'
import { countRows, type Counted } from './claim.ts'
import type { OptimisticStatements, VersionedChange, VersionedRow } from './optimistic.ts'
import { quoteTable, readTarget, type SqlSyntax } from './sql.ts'

/** The statements of SQL engines; `counted` makes the UPDATE say how many rows it has changed. */
export function sqlVersions(
  syntax: SqlSyntax,
  counted: (update: SqlStatement) => Counted,
): OptimisticStatements {
  return {
    read: ({ table, key }) => readTarget(syntax, { table, key }),
    change: (row, change) => counted(versionedUpdate(syntax, row, change)),
  }
}

/** For engines whose UPDATE can give the rows that it has changed. */
export function countReturned({ sql, params }: SqlStatement): Counted {
  return { statements: [{ sql: `${sql} RETURNING 1 AS n`, params }], count: countRows }
}

function versionedUpdate(
  syntax: SqlSyntax,
  { table, key, version }: VersionedRow,
  { expected, set }: VersionedChange,
): SqlStatement {
  const params: Value[] = []
  const equals = ([column, value]: readonly [string, Value]): string =>
    `${syntax.quote(column)} = ${syntax.parameter(params.push(value))}`
  const changes = [
    ...Object.entries(set).map(equals),
    `${syntax.quote(version)} = ${syntax.quote(version)} + 1`,
  ]
  const conditions = [...Object.entries(key), [version, expected] as const].map(equals)
  return {
    sql: `UPDATE ${quoteTable(syntax, table)} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`,
    params,
  }
}
