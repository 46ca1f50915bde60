import { LockUsageError } from '../../core/errors.ts'

/** For what is not there of Sequelize's insides that Holdfast relies on. */
export function unknownSequelize(what: string): LockUsageError {
  return new LockUsageError('sequelize', `${what}: sequelize 6.37 is known to work`)
}
