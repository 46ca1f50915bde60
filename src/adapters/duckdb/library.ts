import { has, type KnownLibrary } from '../library.ts'

export const duckdbLibrary: KnownLibrary = {
  entry: 'duckdb',
  what: 'an instance of DuckDB',
  is: (members) => has(members, 'connect', 'closeSync'),
}
