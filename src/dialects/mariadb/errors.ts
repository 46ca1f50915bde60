import type { ErrorTable } from '../../core/classification.ts'
import { protocolCode, protocolCodes } from '../mysql/errors.ts'

/** MySQL's own table, but asked only when told: nothing in an error says which of the two servers sent it. */
export const errors: ErrorTable = {
  codeOf: (error, isTold) => (isTold ? protocolCode(error, isTold) : undefined),
  codes: protocolCodes,
  otherwise: 'open',
}
