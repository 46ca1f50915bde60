import { LockUsageError } from '../core/errors.ts'
import type { DriverTraits } from './traits.ts'
import { withoutMode, withoutReadOnly } from './transaction-start.ts'

/**
 * For libraries that send their statements through `tedious`, each in a procedure of its own (`sp_executesql`).
 *
 * A SET ends with the procedure it stands in, so neither a lock timeout nor an isolation level could be put back.
 */
export const traits: DriverTraits = {
  begin: (start) => {
    withoutMode(start)
    withoutReadOnly(start)
    if (start.isolation === undefined) return undefined
    throw new LockUsageError(
      'isolation',
      'would stay on the connection for whoever uses it next: set it for the whole database, or use the adapter of the driver itself',
    )
  },
  toDriver: (value) => value,
  cleanUp: [],
}
