import type { ClaimStatements } from '../claim.ts'
import { embeddedClaims } from '../claim-embedded.ts'
import { nowMs, syntax } from './syntax.ts'

/**
 * Two claims that write the token of one row conflict, and the loser is repeated: the token is another for each.
 *
 * There is no index to advise: DuckDB reads the columns of a queue as a whole, and no index gives it an order.
 */
export const claim: ClaimStatements = {
  ...embeddedClaims({ ...syntax, nowMs, duration: (place) => `CAST(${place} AS BIGINT)` }),
  index: () => [],
  misfits: ['Binder Error', 'Catalog Error'],
}
