import { LockUsageError } from '../../core/errors.ts'
import type { Value } from '../../core/statement.ts'
import { countRows } from '../claim.ts'
import type { OptimisticStatements, VersionedRow } from '../optimistic.ts'
import { collection } from './names.ts'

/** A document that was changed since the transaction began to read is a conflict, whatever its version. */
export const optimistic: OptimisticStatements = {
  read: (row) => ({ command: { find: collection(row.table), filter: filter(row.key), limit: 2 } }),
  change: (row, { expected, set }) => ({
    statements: [
      {
        command: {
          findAndModify: collection(row.table),
          query: { ...filter(row.key), ...filter({ [row.version]: expected }) },
          update: changes(row, set),
          fields: { _id: 1 },
        },
      },
    ],
    count: countRows,
  }),
}

function changes({ version }: VersionedRow, set: Readonly<Record<string, Value>>): object {
  for (const field of Object.keys(set)) checkField('set', field)
  // an empty $set is an error before MongoDB 5
  return { ...(Object.keys(set).length > 0 && { $set: set }), $inc: { [version]: 1 } }
}

/** `$eq` keeps a value that looks like an operator a value. */
function filter(key: VersionedRow['key']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(key).map(([field, value]) => [checkField('key', field), { $eq: value }]),
  )
}

function checkField(place: string, field: string): string {
  if (field.startsWith('$')) throw new LockUsageError(place, `${field} is an operator, not a field`)
  return field
}
