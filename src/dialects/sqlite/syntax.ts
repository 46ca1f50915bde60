import { quotedBy, type SqlSyntax } from '../sql.ts'

export const syntax: SqlSyntax = {
  quote: quotedBy('"'),
  parameter: () => '?',
  indexesBearSchema: true,
}

/** Milliseconds since 1970 on the clock of the machine that holds the file; `unixepoch('subsec')` needs SQLite 3.42. */
export const nowMs = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
