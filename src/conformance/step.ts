import type { LockErrorCode } from '../core/errors.ts'
import type { Action } from './action.ts'

/** What must come of a step. */
export type Expectation =
  | { readonly is: 'done'; readonly sees?: unknown }
  /** It does not end before somebody else has done something. */
  | { readonly is: 'waiting' }
  | { readonly is: 'failed'; readonly code: LockErrorCode | 'any'; readonly isCaught: boolean }

/** One line of a schedule: who does what, and what must come of it. Plain data. */
export interface StepData {
  readonly actor: string
  /** `resumes` is the end of what the actor was waiting for. */
  readonly action: Action | 'resumes'
  readonly expect: Expectation
  /** It must not end sooner than so long after it began. */
  readonly atLeastMs?: number
  /** It must not end later than so long after it began. */
  readonly atMostMs?: number
  /** Where every order is tried, it has no turn of its own. */
  readonly isAtOnce?: boolean
}

/** A step as laws write it: `a.lockRow(1).waits()`. */
export interface Step extends StepData {
  /** It ends, with this value. */
  readonly sees: (value: unknown) => Step
  /** It waits, and is seen waiting where the engine shows that; a later `resumes` says how it ends. */
  readonly waits: () => Step
  /** It fails with an error of this code, which ends the transaction it is in. */
  readonly fails: (code: LockErrorCode | 'any') => Step
  /** As `fails`, but the session catches the error and goes on in the same transaction. */
  readonly failsGently: (code: LockErrorCode) => Step
  readonly notBefore: (ms: number) => Step
  readonly within: (ms: number) => Step
  /** Where every order is tried, it follows the step before without giving others a turn. */
  readonly atOnce: () => Step
}

export function stepOf(data: StepData): Step {
  const as = (expect: Expectation): Step => stepOf({ ...data, expect })
  return {
    ...data,
    sees: (value) => as({ is: 'done', sees: value }),
    waits: () => as({ is: 'waiting' }),
    fails: (code) => as({ is: 'failed', code, isCaught: false }),
    failsGently: (code) => as({ is: 'failed', code, isCaught: true }),
    notBefore: (ms) => stepOf({ ...data, atLeastMs: ms }),
    within: (ms) => stepOf({ ...data, atMostMs: ms }),
    atOnce: () => stepOf({ ...data, isAtOnce: true }),
  }
}
