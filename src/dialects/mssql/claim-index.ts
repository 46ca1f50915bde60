import { fullIndex } from '../claim-index.ts'
import type { ClaimIndex } from '../tools.ts'
import { syntax } from './syntax.ts'

export const claimIndex: ClaimIndex = {
  // an index on some rows is not used for a statement with parameters
  index: (queue) => [fullIndex(syntax, queue)],
}
