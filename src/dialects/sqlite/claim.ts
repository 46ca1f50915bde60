import type { ClaimStatements } from '../claim.ts'
import { embeddedClaims } from '../claim-embedded.ts'
import type { ClaimSyntax } from '../claim-text.ts'
import { nowMs, syntax as names } from './syntax.ts'

const [least, most] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export const syntax: ClaimSyntax = {
  ...names,
  nowMs,
  // drivers give integers as numbers, unless they are told otherwise
  exactId: (id) =>
    `CASE WHEN typeof(${id}) = 'integer' AND ${id} NOT BETWEEN ${least} AND ${most} THEN CAST(${id} AS TEXT) END`,
}

export const claim: ClaimStatements = {
  ...embeddedClaims(syntax),
  exactId: BigInt,
  // the one code for every text that cannot be prepared, and ours are right for a table that fits
  misfits: ['SQLITE_ERROR'],
}
