import type { ClaimStatements } from '../claim.ts'
import { embeddedClaims } from '../claim-embedded.ts'
import { nowMs, syntax } from './syntax.ts'

/** Two claims that write the token of one row conflict, and the loser is repeated: the token is another for each. */
export const claim: ClaimStatements = {
  ...embeddedClaims({ ...syntax, nowMs, duration: (place) => `CAST(${place} AS BIGINT)` }),
  misfits: ['Binder Error', 'Catalog Error'],
}
