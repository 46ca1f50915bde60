import type { ErrorKind, TransactionState } from './error-kind.ts'

/** What a database error means, in words that are the same for every engine. */
export interface Classification {
  readonly kind: ErrorKind
  /** Whether running the whole transaction again is the right answer. */
  readonly retryable: boolean
  /** The dialect that was told, or whose driver made the error; absent when neither is known. */
  readonly dialect?: string
  /** The engine's own code as text; the driver's words where it gives no code; the wrapper's code where it hides both. */
  readonly code?: string
  /**
   * What is left of the transaction it happened in.
   *
   * `open` for an error that no dialect knows: it is taken to be the caller's own, which no engine has heard of.
   */
  readonly transaction: TransactionState
  /** The driver's own error, out of whatever wrapped it; what was thrown when there is none inside. */
  readonly original: unknown
}

/** What one of an engine's codes means. */
export interface ErrorMeaning {
  readonly kind: ErrorKind
  readonly transaction: TransactionState
}

/** Anything that was thrown and has properties. */
export type ErrorLike = Readonly<Record<string, unknown>>

/** How a dialect's errors are told from others, and what they mean. */
export interface ErrorTable {
  /**
   * The key in `codes` for an error of this dialect's driver; the engine's code where it is not listed there.
   * `undefined` when the error does not come from this dialect.
   *
   * `isTold`: the caller says that the error comes from this dialect, so less evidence is enough.
   */
  readonly codeOf: (error: ErrorLike, isTold: boolean) => string | undefined
  /**
   * By the engine's code, or by the driver's words where it gives no code.
   *
   * Where one code means two things, the key is the code and what tells them apart: see {@link variant}.
   */
  readonly codes: Readonly<Record<string, ErrorMeaning>>
  /** What a code that is not listed leaves of the transaction. */
  readonly otherwise: TransactionState
}

/**
 * What a driver says in an error of its own. Knex puts the statement before that, into the same error. Of an error with
 * a cause the words are a wrapper's, and may end in somebody's data.
 */
export function driverWords({ message, cause }: ErrorLike): string | undefined {
  if (typeof message !== 'string') return undefined
  return cause === undefined ? message.split(' - ').at(-1) : message
}

const VARIANT = ' / '

/** The key for one of several meanings of a code. */
export function variant(code: string, which: string): string {
  return `${code}${VARIANT}${which}`
}

/** The engine's code in a key. */
export function codeInKey(key: string): string {
  return key.split(VARIANT, 1)[0] ?? key
}
