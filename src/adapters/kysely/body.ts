import type { Row } from '../../core/statement.ts'
import { Flight } from '../flight.ts'
import { rawQuery, type KyselyConnection, type KyselyQuery, type KyselyResult } from './connection.ts'
import type { DriverTraits } from '../traits.ts'
import { hasEnded, TransactionBody } from '../transaction-body.ts'

/** Whatever is sent on a connection of Kysely's, by us and by the work: Kysely sends one at a time. */
export interface WatchedConnection {
  readonly body: TransactionBody
  /** Asks the database whether the transaction is there. */
  readonly ask: () => Promise<void>
  /** Ends the streams that the work has left open. */
  readonly cutStreams: () => Promise<void>
  /** Whether there was one. Who has left it keeps Kysely's turn on the connection for ever. */
  readonly hasCut: () => boolean
  /** What is under way, also past Kysely, which lines up only what goes through its executors. */
  readonly running: Flight
  readonly isWatched: () => boolean
  readonly unwatch: () => void
}

type Execute = KyselyConnection['executeQuery']
type Stream = NonNullable<KyselyConnection['streamQuery']>

export function watchConnection(connection: KyselyConnection, driver: DriverTraits): WatchedConnection {
  const body = new TransactionBody(driver.body)
  const open = new Set<AsyncIterator<KyselyResult>>()
  let hasCut = false
  let isWatched = true
  const bound = connection.executeQuery.bind(connection)
  // that of SQLite throws at once
  const execute: Execute = async (query) => bound(query)
  const say = async (text: string): Promise<readonly Row[]> =>
    (await execute(rawQuery(text, []))).rows as readonly Row[]
  const { ask, mark } = questions(body, driver, say)
  const running = new Flight()
  const unwatch = [replace(connection, 'executeQuery', watchedExecute({ body, execute, ask, mark, running }))]
  if (connection.streamQuery !== undefined) {
    const stream = connection.streamQuery.bind(connection)
    unwatch.push(
      replace(connection, 'streamQuery', watchedStream({ body, stream, ask, mark, running }, open)),
    )
  }
  return {
    body,
    ask,
    cutStreams: async () => {
      const left = [...open]
      open.clear()
      hasCut ||= left.length > 0
      for (const stream of left) await stream.return?.()
    },
    hasCut: () => hasCut,
    running,
    isWatched: () => isWatched,
    unwatch: () => {
      isWatched = false
      for (const putBack of unwatch) putBack()
    },
  }
}

function questions(
  body: TransactionBody,
  driver: DriverTraits,
  say: (text: string) => Promise<readonly Row[]>,
): Pick<Watching, 'ask' | 'mark'> {
  return {
    ask: async () => {
      const isSame = !body.isMarked || (await driver.mark?.isThere(say)) === true
      body.told(isSame && (await driver.isInTransaction(say)))
    },
    mark: async () => {
      if (driver.mark === undefined) return
      await say(driver.mark.set)
      body.isMarked = true
    },
  }
}

interface Watching {
  readonly body: TransactionBody
  readonly ask: () => Promise<void>
  /** Sets the savepoint that `ask` looks for. */
  readonly mark: () => Promise<void>
  readonly running: Flight
}

interface Executing extends Watching {
  readonly execute: Execute
}

function watchedExecute({ body, execute, ask, mark, running }: Executing): Execute {
  const send: Execute = (query) => {
    const refusal = refusalOf(body, query)
    if (refusal !== undefined) return Promise.reject(refusal)
    const answer = execute(query)
    const steps = body.announce(query.sql)
    running.start()
    // before whoever asked: it was there first
    answer.then(
      () => {
        running.land()
        body.succeeded(steps)
      },
      (error: unknown) => {
        running.land()
        body.failed(error, query.manner === undefined, steps)
      },
    )
    return query.manner === 'read' && body.isInDoubt ? confirmed(answer) : answer
  }
  const markAndSend: Execute = (query) =>
    query.manner === undefined && body.needsMark(query.sql) ? mark().then(() => send(query)) : send(query)
  const confirmed = async (answer: ReturnType<Execute>): ReturnType<Execute> => {
    const result = await answer
    await ask()
    if (body.end !== undefined) throw body.end
    return result
  }
  return (query) => {
    if (query.manner === 'free') return execute(query)
    return body.end === undefined && body.asksBefore(query.manner ?? 'checked')
      ? ask().then(() => markAndSend(query))
      : markAndSend(query)
  }
}

function watchedStream(
  { body, stream, ask, mark, running }: Watching & { readonly stream: Stream },
  open: Set<AsyncIterator<KyselyResult>>,
): Stream {
  return async function* (query, chunkSize) {
    if (body.closed === undefined && body.isInDoubt) await ask()
    // one that begins after the work has returned could be left open by it, and nobody would end it
    const refusal = body.closed ?? body.refusal(query.sql, query.parameters)
    if (refusal !== undefined) throw refusal
    if (body.needsMark(query.sql)) await mark()
    const parts = stream(query, chunkSize)
    const steps = body.announce(query.sql)
    open.add(parts)
    // one that is left open would be waited for without end: it is cut instead
    running.land()
    try {
      for await (const part of parts) {
        yield part
        if (!open.has(parts)) throw hasEnded()
      }
      if (!open.has(parts)) throw hasEnded()
      body.succeeded(steps)
    } catch (error) {
      body.failed(error, true, steps)
      throw error
    } finally {
      running.start()
      open.delete(parts)
    }
  }
}

function refusalOf(body: TransactionBody, query: KyselyQuery): TransactionBody['end'] {
  if (query.manner === undefined) return body.refusal(query.sql, query.parameters)
  if (body.isOpen) body.sends(query.sql, query.parameters)
  return body.end
}

/** Gives what puts the old one back. */
function replace<K extends 'executeQuery' | 'streamQuery'>(
  connection: KyselyConnection,
  name: K,
  method: NonNullable<KyselyConnection[K]>,
): () => void {
  const before = Object.getOwnPropertyDescriptor(connection, name)
  connection[name] = method
  return () => {
    // where the method is the class's own, there was nothing on the object itself
    if (before === undefined) Reflect.deleteProperty(connection, name)
    else Object.defineProperty(connection, name, before)
  }
}
