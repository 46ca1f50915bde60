import type { TransactionStart } from '../../core/session.ts'
import { accessWords, headTexts, isolationWords, withoutMode } from '../transaction-start.ts'

/** One message without values, so that what belongs to the start costs no round trip of its own. */
export function beginText(start: TransactionStart): string {
  withoutMode(start)
  let text = 'BEGIN'
  if (start.isolation !== undefined || start.access !== undefined)
    text = [text, ...isolationWords(start), ...accessWords(start)].join(' ')
  for (const statement of headTexts(start)) text += `; ${statement}`
  return text
}
