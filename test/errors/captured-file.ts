import type { CapturedError } from './captured-error.ts'
import type { Expected } from './scenario.ts'

/** `captured/<dialect>.json`: what a real engine and its driver gave. */
export interface CapturedFile {
  readonly engine: string
  readonly version: string
  readonly errors: readonly CapturedScenario[]
}

export interface CapturedScenario extends Expected {
  readonly scenario: string
  readonly error: CapturedError
}
