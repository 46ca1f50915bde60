import type { DuckDBConnection } from '@duckdb/node-api'

import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { createLocks } from '../../../src/entries/duckdb.ts'
import { loadDuckdb } from '../../engines/duckdb-driver.ts'
import { embedded, hideTx, type Ground, type Way } from '../ground.ts'

async function open(url: string): Promise<Ground<DuckDBConnection>> {
  const { DuckDBInstance } = await loadDuckdb()
  // the instance of the cache is the engine's own, which closes it
  const locks = createLocks(await DuckDBInstance.fromCache(url))
  return {
    ...embedded,
    locks,
    rows: (tx, { row, wait, ...lock }) =>
      locks.rows(
        tx,
        { table: 'spot', key: { id: row } },
        { ...lock, wait: wait === 'skip' ? 'nowait' : wait },
      ),
    send: (tx, statement) => tx.run(sqlOnly(statement).sql),
    say: (tx, word) => tx.run(word),
    settings: async () => [],
    close: async () => {},
  }
}

export const onDuckdb: readonly Way[] = [hideTx({ title: 'duckdb', engines: ['duckdb'], open })]
