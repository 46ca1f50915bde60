import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

import { before, tapState, type Tap } from './tap.ts'

/** Other methods of a connection come down to these. One that is prepared is heard then: it is run once. */
export function openTap(): Tap {
  const { hear, note, tap } = tapState<DuckDBInstance>(async (one) => one.closeSync())
  for (const method of ['run', 'stream', 'start', 'startStream', 'prepare'] as const) {
    before(DuckDBConnection.prototype, method, (_, [sql]) => hear(String(sql)))
  }
  before(DuckDBInstance.prototype, 'connect', note)
  return tap
}
