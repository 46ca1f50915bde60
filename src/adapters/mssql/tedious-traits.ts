import { LockUsageError } from '../../core/errors.ts'
import { fateBy } from '../statement-fate.ts'
import type { DriverTraits } from '../traits.ts'
import { withoutMode, withoutReadOnly } from '../transaction-start.ts'

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
  body: {
    fateOf: fateBy({
      spelling: { quotes: `'"[`, nestsComments: true, wideBlanks: /[^\S\t-\r ]/g },
      // a rollback with a name may be one to a savepoint
      ends: String.raw`commit|rollback(?! (?:tran|transaction|work) [\w@"#\x80-\uffff])|begin (?:distributed )?tran\w*|set implicit_transactions`,
      keeps: String.raw`select|insert|update|delete|merge|with|set(?! implicit_transactions)|declare|save|if|while|print|exec|execute|truncate|create|alter|drop`,
    }),
    isEndedByErrors: true,
  },
  isInTransaction: async (send) => {
    const [row] = await send('SELECT @@TRANCOUNT AS held')
    return Number(row?.held) > 0
  },
  toDriver: (value) => value,
  cleanUp: [],
}
