import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row, Value } from '../core/statement.ts'
import { onLoss } from './connection-loss.ts'
import { cancel, type CancelTarget } from './pg-cancel.ts'
import { listenOn, type ListeningClient } from './pg-listen.ts'
import { sqlOnly } from './statement-kind.ts'
import type { DriverTraits } from './traits.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'
import { accessWords, headTexts, isolationWords, undoneOnError, withoutMode } from './transaction-start.ts'

/** What is used of `pg`'s `Pool`. The second way to connect is not used; its type is what tells the client's. */
export interface PgPool<Client = PgClient> {
  connect(): Promise<Client>
  connect(callback: (error: Error | undefined, client: Client | undefined, done: () => void) => void): void
}

export interface PgClient extends CancelTarget, ListeningClient {
  /** Where `pg` tells of every error that the server sends; absent in its native client. */
  readonly connection?: PgErrors
  query(config: { text: string; values: unknown[] }): Promise<PgResult | readonly PgResult[]>
  release(error?: Error): void
}

interface PgErrors {
  on(event: 'errorMessage', listener: (error: Error) => void): unknown
  off(event: 'errorMessage', listener: (error: Error) => void): unknown
}

export interface PgResult {
  readonly command: string
  readonly rows: readonly Row[]
}

/** Sessions on the connections of a `pg` pool. The caller's work receives the pool's own client. */
export function sessions<Client extends PgClient>(pool: PgPool<Client>): Sessions<Client> {
  return { open: async () => sessionOf(await pool.connect()), listen: listenOn(pool) }
}

function sessionOf<Client extends PgClient>(client: Client): Session<Client> {
  const failure = firstFailure()
  const send = async (text: string, values: readonly Value[] = []): Promise<PgResult | undefined> => {
    const answer = await client.query({ text, values: [...values] })
    // without values one text may hold several statements: the last one answers
    return isList(answer) ? answer.at(-1) : answer
  }
  // A connection that breaks while nothing runs on it tells only its listeners; without one, that ends the process.
  client.on('error', ignore)
  client.connection?.on('errorMessage', failure.note)
  return {
    tx: client,
    run: async (statement) => {
      const { sql, params } = sqlOnly(statement)
      return (await send(sql, params))?.rows ?? []
    },
    begin: async (start = {}) => {
      const text = beginText(start)
      failure.forget()
      return undoneOnError(
        async () => (await send(text))?.rows ?? [],
        () => send('ROLLBACK'),
      )
    },
    commit: async () => {
      // The server answers COMMIT of a failed transaction with the tag ROLLBACK, and with no error.
      if ((await send('COMMIT'))?.command === 'ROLLBACK') throw nothingToCommit(failure.error)
    },
    rollback: async () => void (await send('ROLLBACK')),
    release: async () => {
      client.connection?.off('errorMessage', failure.note)
      client.release()
      client.off('error', ignore)
    },
    destroy: async (why) => {
      client.release(why)
      // While a statement waits for a lock, the server does not notice that its client has gone.
      await cancel(client)
    },
    onLost: (tell) => onLoss(client, tell),
    ...(client.processID == null ? {} : { backend: String(client.processID) }),
  }
}

function isList(answer: PgResult | readonly PgResult[]): answer is readonly PgResult[] {
  return Array.isArray(answer)
}

function ignore(): void {}

/** One message without values, so that what belongs to the start costs no round trip of its own. */
function beginText(start: TransactionStart): string {
  withoutMode(start)
  const begin = ['BEGIN', ...isolationWords(start), ...accessWords(start)].join(' ')
  return [begin, ...headTexts(start)].join('; ')
}

/** For libraries that send their statements through `pg`. */
export const traits: DriverTraits = {
  begin: (start) => [beginText(start)],
  toDriver: (value) => value,
  cleanUp: [
    { sql: 'SELECT pg_advisory_unlock_all()', params: [] },
    { sql: 'RESET lock_timeout', params: [] },
  ],
}
