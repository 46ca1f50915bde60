import type { Streaming } from './streams.ts'

/** The connection that answers by callback, beneath the one of promises. */
export interface CoreConnection {
  readonly config?: { readonly clientFlags?: number }
  query(query: unknown, callback: Callback): unknown
  addCommand(command: Command): Command
}

type Callback = (error: Error | null, answer?: unknown) => void

/** What `mysql2` makes of each statement, and puts into its queue. */
export interface Command extends Streaming {
  onResult?: (error: Error | null, ...rest: unknown[]) => void
  readonly sql?: string
  /** The text, of a command that prepares it. */
  readonly query?: string
  /** What was prepared before. */
  readonly statement?: { readonly query?: string }
  once(event: 'end', listener: () => void): unknown
  once(event: 'error', listener: (error: Error) => void): unknown
  emit(event: 'end'): unknown
  emit(event: 'error', error: Error): unknown
}

/** A flag of the protocol: https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html */
const MULTI_STATEMENTS = 1 << 16

/** What was told to the server: `flags` of the pool can say other than its `multipleStatements`. */
export function takesSeveral({ config }: CoreConnection): boolean {
  return config?.clientFlags === undefined || (config.clientFlags & MULTI_STATEMENTS) !== 0
}

export function textOf({ sql, query, statement }: Command): string | undefined {
  return sql ?? query ?? statement?.query
}

/** Not sent at all. */
export function refuse(command: Command, why: Error): Command {
  if (command.onResult !== undefined) command.onResult(why)
  else
    process.nextTick(() => {
      command.emit('error', why)
      command.emit('end')
    })
  return command
}
