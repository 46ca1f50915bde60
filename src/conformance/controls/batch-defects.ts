import type { DeclaredStatement } from '../../locks/batch/statement.ts'
import type { Client, Sabotage } from '../subject.ts'

/** Stores a batch, whatever rows its statements have found. */
export const ignoresExpectations: Sabotage = {
  does: 'stores a batch although its rows are not as expected',
  client: (client) => {
    const batch = (key: never, statements: readonly DeclaredStatement[], options: never) =>
      client.locks.batch(
        key,
        statements.map(({ sql, params = [] }) => ({ sql, params })),
        options,
      )
    return { ...client, locks: { ...client.locks, batch } as unknown as Client['locks'] }
  },
}

export const batchDefects: readonly Sabotage[] = [ignoresExpectations]
