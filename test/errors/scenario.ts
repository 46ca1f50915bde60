import type { ErrorKind, TransactionState } from '../../src/core/error-kind.ts'
import type { Statement } from '../../src/core/statement.ts'
import type { EngineSession } from '../engines/engine.ts'
import type { Stage } from './stage.ts'

/** One way to make an engine fail, and what its error must be taken for. */
export interface Scenario {
  readonly name: string
  readonly expect: Expected
  /** Makes the error happen through the real driver. */
  readonly run: (stage: Stage) => Promise<Provoked>
  /** It disturbs everybody on the server, so it needs one of its own. */
  readonly isAlone?: boolean
  /** The oldest server that can do it. */
  readonly since?: string
}

export interface Expected {
  readonly kind: ErrorKind
  readonly transaction: TransactionState
  /** The key in the dialect's table, or the code of an error that belongs to no dialect. */
  readonly key: string
  /** No dialect may claim it unless it was told. */
  readonly isAnybodys?: boolean
}

export interface Provoked {
  readonly error: unknown
  /** The session in whose transaction it happened: what is left of that is checked. Absent where there was none. */
  readonly session?: EngineSession
  /** Whether the session has a transaction now, where the engine does not know the session. */
  readonly hasTransaction?: () => Promise<boolean>
}

/** All that is known about one dialect's errors: the default export of `provoke/<dialect>.ts`. */
export interface Provocations {
  /** Makes `items` (rows 1 and 2, with a number `n`, `id` is the key) and `marks`, which is empty. */
  readonly setUp: readonly Statement[]
  /** Puts them back to that. */
  readonly reset: readonly Statement[]
  /** Writes a row named so into `marks`. */
  readonly mark: (name: string) => Statement
  /** Reads `marks`: each row has the mark's name under `name`. */
  readonly marks: Statement
  /** The driver goes on believing in a transaction that the server has ended, until it is told to roll back. */
  readonly isRolledBackByHand?: boolean
  readonly scenarios: readonly Scenario[]
  /** The keys of the table that no scenario has, and why. */
  readonly notProvoked: Readonly<Record<string, string>>
}
