import { classifyError } from '../../src/classify.ts'
import type { Body, Step } from './body.ts'
import type { Outcome } from './perform.ts'
import type { Tongue } from './tongue.ts'

interface Setting {
  readonly isRefused: boolean | undefined
  readonly tongue: Tongue
}

/** What is wrong with the error of a call; nothing when it had to fail, and says why. */
export function judgeError(outcome: Outcome, body: Body, { isRefused, tongue }: Setting): string | undefined {
  const { isOk, error } = outcome
  if (isOk || isRefused === true) return undefined
  if (isHarmless(body)) return `nothing in the body could fail, and the call did: ${String(error)}`
  if (isForgotten(outcome, body, tongue))
    return `a conflict was not repeated: the call blames ${String(error)}`
  return undefined
}

/** Alone, with nothing in it that may be refused, and with attempts to spare. */
function isHarmless({ options, hasRival, hasTwin, network, steps, end, late }: Body): boolean {
  if (hasRival || hasTwin || network !== undefined || end === 'throw' || late.length > 0) return false
  return options.attempts === undefined && steps.every(mustSucceed)
}

function mustSucceed(step: Step): boolean {
  if (step.do === 'together') return step.steps.every(mustSucceed)
  if (step.do === 'stream') return step.of === 'rows' && step.manner !== 'float'
  return step.do === 'write' || step.do === 'bump' || step.do === 'rows' || step.do === 'turn'
}

/** The body met a conflict that is worth another attempt, and the call tells of something that only followed from it. */
function isForgotten({ error, attempts }: Outcome, { options }: Body, { consequence }: Tongue): boolean {
  const isConflict = attempts.at(-1)?.errors.some((heard) => classifyError(heard).retryable) === true
  if (!isConflict || attempts.length >= (options.attempts ?? 5)) return false
  return consequence?.test(String(error)) === true && !classifyError(error).retryable
}
