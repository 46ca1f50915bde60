/** What is used of the connection beneath a client of `pg`. */
interface Emitter {
  rawListeners(event: string): readonly Listener[]
  on(event: string, listener: Listener): unknown
  once(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
}

type Listener = ((...args: unknown[]) => void) & { readonly listener?: Listener }

/** What sends a query to a client of `pg` that it keeps to itself, as Kysely's own connections do. */
export interface ClientKeeper {
  executeQuery(query: never): Promise<unknown>
}

const guarded = new WeakSet<object>()

/** Those of which it was seen that `pg` itself sends what they are given. */
const onPg = new WeakSet<object>()

/** Whether a query of one's own, given to it in the place of a text, is sent by `pg`'s JavaScript client. */
export function takesOwnQueries(keeper: object | undefined): boolean {
  return keeper !== undefined && onPg.has(keeper)
}

/**
 * Sees to it that the end of a connection is no end of the process: a client tells of it by an `error` event, and one
 * that is lent has no listener but that of whoever borrowed it. Once for each connection; sends nothing.
 *
 * Kysely keeps the client to itself, so that nobody can listen there. But a query of one's own is handed the connection
 * beneath, whose listeners are what emits that event.
 */
export async function guardKept(keeper: ClientKeeper): Promise<void> {
  // of other libraries nobody knows what they would make of such a query
  if (guarded.has(keeper) || keeper.constructor.name !== 'PostgresConnection') return
  guarded.add(keeper)
  const introduction = new Introduction()
  const query = {
    sql: introduction,
    parameters: [],
    query: { kind: 'RawNode' },
    queryId: { queryId: 'holdfast' },
  }
  await keeper.executeQuery(query as never).catch(() => {}) // whatever ails the connection, its next user hears of it
  if (introduction.isGuarding) onPg.add(keeper)
}

/** A query that is never sent. It is a text for those who look at it, such as a log. */
class Introduction extends String {
  callback?: (error: Error) => void
  isGuarding = false

  constructor() {
    super('-- holdfast listens for the end of the connection')
  }

  submit(connection: object): Error {
    if ('rawListeners' in connection) {
      guard(connection as Emitter)
      this.isGuarding = true
    }
    return new Error('nothing was to be sent')
  }

  handleError(error: Error): void {
    this.callback?.(error)
  }

  /** The native client asks for this instead of `handleError`. */
  once(_: string, listener: () => void): void {
    process.nextTick(listener)
  }
}

/** Keeps what the listeners of a connection's end throw because nobody listens to them. */
function guard(connection: Emitter): void {
  for (const event of ['error', 'errorMessage', 'end']) {
    for (const raw of connection.rawListeners(event)) {
      const own = raw.listener ?? raw
      const quiet = (...args: unknown[]): void => {
        try {
          own.apply(connection, args)
        } catch (error) {
          if (!isUnheard(error, args)) throw error
        }
      }
      connection.off(event, own)
      if (raw.listener === undefined) connection.on(event, quiet)
      else connection.once(event, quiet)
    }
  }
}

/** An `error` event without a listener throws the error itself: one that was told, or the one that `pg` makes of an end. */
function isUnheard(error: unknown, told: readonly unknown[]): boolean {
  return told.includes(error) || (error instanceof Error && error.message.startsWith('Connection terminated'))
}
