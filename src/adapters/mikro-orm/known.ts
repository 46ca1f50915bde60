import { LockUsageError } from '../../core/errors.ts'

/** For what is not there of MikroORM's insides that Holdfast relies on. */
export function unknownMikroOrm(what: string): LockUsageError {
  return new LockUsageError('orm', `${what}: MikroORM 7.2 is known to work`)
}
