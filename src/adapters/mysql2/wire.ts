import type { Value } from '../../core/statement.ts'
import type { ServerStatus } from './server-status.ts'
import type { Streams } from './streams.ts'

/** A connection of one driver, and the commands that the driver makes of what is sent on it. */
export interface Wire<Command extends object> {
  /** Whether a text may be of several statements. */
  readonly takesSeveral: boolean
  /** The text of a statement; undefined for what is none. */
  readonly textOf: (command: Command) => string | undefined
  /** The values for its placeholders, unless they stand in the text. */
  readonly paramsOf: (command: Command) => unknown
  /** What a command without a text is: the end of a prepared statement, a question whether the server is there, or more. */
  readonly kindOf: (command: Command) => 'closing' | 'ping' | 'other'
  /** From now on each command comes to `take`, and goes on to the server by `add`. */
  readonly attach: (take: (command: Command) => Command) => void
  /** The commands are not for the line any longer. Absent where nobody else minds them coming to it. */
  readonly detach?: () => void
  readonly add: (command: Command) => void
  /** Answers a command that is not sent, or whose answer is not waited for any longer. */
  readonly refuse: (command: Command, why: Error) => void
  /** Makes a command of a query, at once. */
  readonly query: (query: unknown, callback: Callback) => void
  readonly watch: (command: Command, watcher: Watcher) => void
  /** Tells of the rows of a command that are read as a stream, or may be. */
  readonly watchStream: (command: Command, streams: () => Streams) => void
  readonly statusOf: (answer: unknown) => ServerStatus
  /** A statement whose answer has rows: how they are read depends on nothing that the pool was told. */
  readonly reading: (sql: string, params: readonly Value[]) => unknown
  /** Whether an error says that the connection had ended before the statement was sent. */
  readonly isUnsent: (error: unknown) => boolean
}

export type Callback = (error: Error | null, answer?: unknown) => void

/** Told how a command went, before whoever has sent it is. */
export interface Watcher {
  readonly failed: (why: Error) => void
  readonly answered: (answer: unknown) => void
  /** Nothing more comes of it, and the next one may be sent. */
  readonly ended: () => void
}
