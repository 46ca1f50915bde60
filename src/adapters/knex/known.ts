import { LockUsageError } from '../../core/errors.ts'

/** For what is not there of Knex's insides that Holdfast relies on. */
export function unknownKnex(what: string): LockUsageError {
  return new LockUsageError('knex', `${what}: knex 3.3 is known to work`)
}
