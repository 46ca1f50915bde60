import { sql } from '../sql.ts'
import type { Identity, TransactionTraits } from '../transaction.ts'
import { lockWaitSeconds, wholeSeconds } from './timeout.ts'

export const transaction: TransactionTraits = {
  lockTimeout: (ms) => ({ setting: lockWaitSeconds(wholeSeconds(ms), 'transaction') }),
}

/** Both servers speak one protocol; only the text of the version tells them apart. */
export function identity(server: 'MySQL' | 'MariaDB'): Identity {
  return {
    ask: sql('SELECT VERSION() AS version'),
    version: ({ version }) => {
      const text = String(version)
      return /mariadb/i.test(text) === (server === 'MariaDB') ? text : undefined
    },
  }
}
