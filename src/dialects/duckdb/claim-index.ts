import type { ClaimIndex } from '../tools.ts'

/** DuckDB reads the columns of a queue as a whole, and no index gives it an order. */
export const claimIndex: ClaimIndex = { index: () => [] }
