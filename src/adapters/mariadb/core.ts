import { LockUsageError } from '../../core/errors.ts'
import type { RowStream } from '../mysql2/streams.ts'

/** The connection of the connector, beneath the one of promises that it gives to its users. */
export interface CoreConnection {
  /** Replaced by the driver itself when the connection has ended. */
  addCommand: AddCommand
  readonly info: { readonly status: number; readonly clientCapabilities?: bigint }
  /** What an answer is expected for. */
  readonly receiveQueue: { clear(): void }
}

export type AddCommand = (command: Command, expectsAnswer: boolean) => void

/** What the connector makes of each statement. */
export interface Command {
  /** Of what is a statement. */
  readonly sql?: string
  readonly readPingResponsePacket?: unknown
  /** Both are taken away when one of them has been called. */
  resolve: ((answer: unknown) => void) | null
  reject: ((why: Error) => void) | null
  /** Reads the next packet of the answer, as long as one is expected. */
  onPacketReceive: unknown
  /** The values for its placeholders. */
  readonly initialValues?: unknown
  /** Where its rows go, when they are read as a stream. */
  readonly inStream?: RowStream & ClosableStream
  /** What the stream holds up. Missing where the connection had ended before. */
  socket?: { pause(): unknown; resume(): unknown }
  handleNewRows(row: unknown): void
  once(event: 'end', listener: () => void): unknown
  emit(event: 'end', why?: Error): unknown
}

interface ClosableStream {
  /** The rest of the rows is read, and nobody is given it. */
  close(): void
  once(event: 'close', listener: () => void): unknown
}

/** What of the connection of promises leads to the one beneath it. */
interface Emitting {
  on?(event: 'newListener', listener: (this: unknown) => void): unknown
  off?(event: 'newListener', listener: (this: unknown) => void): unknown
}

/**
 * The connection beneath the one of promises, which keeps it to itself. Its methods for listeners pass on what they are
 * given, and a listener is called on the object that it listens to.
 */
export function coreOf(connection: object): CoreConnection {
  const emitting: Emitting = connection
  let found: unknown
  const note = (core: unknown): void => {
    found = core
  }
  const find = function (this: unknown): void {
    note(this)
  }
  // the second one is the listener that the first one hears of
  for (const listener of [find, find]) emitting.on?.('newListener', listener)
  for (const listener of [find, find]) emitting.off?.('newListener', listener)
  if (isCore(found)) return found
  throw new LockUsageError('pool', 'is not a pool of mariadb, or not of a version that is known to work: 3.5')
}

function isCore(found: unknown): found is CoreConnection {
  const core = (found ?? {}) as {
    readonly addCommand?: unknown
    readonly info?: { readonly status?: unknown }
    readonly receiveQueue?: { readonly clear?: unknown }
  }
  return (
    typeof core.addCommand === 'function' &&
    typeof core.info?.status === 'number' &&
    typeof core.receiveQueue?.clear === 'function'
  )
}
