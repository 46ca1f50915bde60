import { isAtLeast } from '../../core/version.ts'
import type { ClaimStatements } from '../claim.ts'
import { innodbClaims } from '../mysql/claim.ts'

export const claim: ClaimStatements = innodbClaims((version) => isAtLeast(version, [10, 6, 0]))
