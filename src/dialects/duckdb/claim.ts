import type { ClaimStatements } from '../claim.ts'
import { embeddedClaims } from '../claim-embedded.ts'
import type { ClaimSyntax } from '../claim-text.ts'
import { nowMs, syntax } from './syntax.ts'

/** Of these the driver gives the value itself; a time loses its microseconds, a decimal its last digits. */
const exactTypes =
  "'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT', 'UHUGEINT', " +
  "'DOUBLE', 'FLOAT', 'VARCHAR', 'UUID', 'BLOB', 'BOOLEAN', 'DATE'"

export const claimSyntax: ClaimSyntax = {
  ...syntax,
  nowMs,
  duration: (place) => `CAST(${place} AS BIGINT)`,
  // the type is known when the statement is planned, so this costs nothing for each row
  exactId: (id) => `CASE WHEN typeof(${id}) NOT IN (${exactTypes}) THEN CAST(${id} AS VARCHAR) END`,
}

/** Two claims that write the token of one row conflict, and the loser is repeated: the token is another for each. */
export const claim: ClaimStatements = {
  ...embeddedClaims(claimSyntax),
  exactId: (text) => text, // compared with a value of any type, a text is read as one of that type
  misfits: ['Binder Error', 'Catalog Error'],
}
