import { classifyError, type ClassifyOptions } from './classify.ts'

/**
 * Whether an error says that a row with such a key is there already, whichever database, driver or query library it
 * comes from.
 */
export function isUniqueViolation(error: unknown, options?: ClassifyOptions): boolean {
  return classifyError(error, options).kind === 'unique-violation'
}
