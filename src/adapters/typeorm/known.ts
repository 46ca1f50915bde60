import { LockUsageError } from '../../core/errors.ts'

/** For what is not there of TypeORM's insides that Holdfast relies on. */
export function unknownTypeorm(what: string): LockUsageError {
  return new LockUsageError('dataSource', `${what}: typeorm 1.1 is known to work`)
}
