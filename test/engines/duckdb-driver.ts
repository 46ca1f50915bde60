/** What the package exports. */
export type Duckdb = typeof import('@duckdb/node-api')

/**
 * DuckDB's driver, loaded now. Rejects where its library for this machine is missing.
 *
 * Not imported at the top of any file: that would take every test of the file with it, the other engines' too, and
 * outside of Vitest the process (Node 20 reports the error a second time, to nobody).
 */
export function loadDuckdb(): Promise<Duckdb> {
  return import('@duckdb/node-api')
}
