import type { DuckDBInstance } from '@duckdb/node-api'

import { loadDuckdb } from '../../engines/duckdb-driver.ts'
import { before, tapState, type Tap } from './tap.ts'

/** Other methods of a connection come down to these. One that is prepared is heard then: it is run once. */
export async function openTap(): Promise<Tap> {
  const driver = await loadDuckdb()
  const { hear, note, tap } = tapState<DuckDBInstance>(async (one) => one.closeSync())
  for (const method of ['run', 'stream', 'start', 'startStream', 'prepare'] as const) {
    before(driver.DuckDBConnection.prototype, method, (_, [sql]) => hear(String(sql)))
  }
  before(driver.DuckDBInstance.prototype, 'connect', note)
  return tap
}
