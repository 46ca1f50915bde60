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

const harmless: ReadonlySet<Step['do']> = new Set(['write', 'bump', 'rows', 'helper', 'turn'])

function mustSucceed(step: Step): boolean {
  if ('steps' in step) return step.steps.every(mustSucceed)
  if (step.do === 'stream') return step.of === 'rows' && step.manner !== 'float'
  return harmless.has(step.do)
}

/** The body met nothing but conflicts that are worth another attempt, and the call tells of what only followed from one. */
function isForgotten({ error, attempts }: Outcome, { options }: Body, { consequence }: Tongue): boolean {
  const follows = (heard: unknown): boolean => consequence?.test(String(heard)) === true
  const causes = attempts.at(-1)?.errors.filter((heard) => !follows(heard)) ?? []
  const areConflicts = causes.length > 0 && causes.every((heard) => classifyError(heard).retryable)
  if (!areConflicts || attempts.length >= (options.attempts ?? 5)) return false
  return follows(error) && !classifyError(error).retryable
}
