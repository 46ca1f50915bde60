import type { ClaimStatements } from '../claim.ts'
import { embeddedClaims } from '../claim-embedded.ts'
import type { ClaimSyntax } from '../claim-text.ts'
import { nowMs, syntax as names } from './syntax.ts'

export const syntax: ClaimSyntax = { ...names, nowMs }

export const claim: ClaimStatements = {
  ...embeddedClaims(syntax),
  // the one code for every text that cannot be prepared, and ours are right for a table that fits
  misfits: ['SQLITE_ERROR'],
}
