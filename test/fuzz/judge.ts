import { CommitOutcomeUnknownError } from '../../src/core/errors.ts'
import type { Outcome } from './perform.ts'
import { markText } from './tongue.ts'

/** What is wrong with an outcome, by what is stored; nothing when all is well. */
export function judge(outcome: Outcome, stored: readonly string[]): string | undefined {
  const { isOk, error, attempts, late } = outcome
  const last = attempts.at(-1)
  const expected = (last?.stored ?? []).map((step) => markText({ attempt: attempts.length, step }))
  if (attempts.some(({ isRobbed }) => isRobbed))
    return 'a row that was granted was free for another before the end'
  if (late.length > 0) return 'a statement was accepted through tx when the transaction was over'
  const found = stored.toSorted().join('; ')
  const isWhole = found === expected.toSorted().join('; ')
  if (isOk) {
    if (last?.hasSaid === true) return 'the body ended the transaction itself, and the call succeeded'
    return isWhole ? undefined : `the call succeeded; stored: [${found}], written: [${expected.join('; ')}]`
  }
  // whoever sends COMMIT has stored what came before it: the call must fail, and has
  if (attempts.some(({ hasSaid }) => hasSaid)) return undefined
  if (found === '' || (error instanceof CommitOutcomeUnknownError && isWhole)) return undefined
  return `the call failed with ${String(error)}; stored all the same: [${found}]`
}
