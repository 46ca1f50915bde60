import { isRounded, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Row, Value } from '../../core/statement.ts'
import { exactIdColumn, type ClaimStatements } from '../../dialects/claim.ts'

type Reading = Pick<ClaimStatements, 'exactId'>

/** The id in a row, exact also where the driver's own value is rounded. */
export function readId(row: Row, column: string, { exactId }: Reading): unknown {
  const text = row[exactIdColumn]
  return exactId !== undefined && typeof text === 'string' ? exactId(text) : row[column]
}

/** The row without what was asked for besides its own columns. Its last column, so that this costs next to nothing. */
export function asStored(row: Row, { exactId }: Reading): Row {
  if (exactId !== undefined) Reflect.deleteProperty(row, exactIdColumn)
  return row
}

/** The job of another would be ended. */
export function mustBeExact(field: string, id: unknown): Value {
  if (!isRounded(id)) return id as Value
  throw new LockUsageError(
    field,
    `${show(id)} is a number that JavaScript cannot hold exactly: take the id of the job, or let the driver read such numbers as bigint or text`,
  )
}
