import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row, Value } from '../core/statement.ts'
import { onLoss } from './connection-loss.ts'
import { cancel, type CancelTarget } from './pg-cancel.ts'
import { listenOn, type ListeningClient } from './pg-listen.ts'
import { statementNames, type StatementNames } from './pg-names.ts'
import { riderOf, type Rider } from './pg-ride.ts'
import { sqlOnly } from './statement-kind.ts'
import type { DriverTraits } from './traits.ts'
import { firstFailure, nothingToCommit, type Failure } from './transaction-end.ts'
import { accessWords, headTexts, isolationWords, undoneOnError, withoutMode } from './transaction-start.ts'

/** What is used of `pg`'s `Pool`. The second way to connect is not used; its type is what tells the client's. */
export interface PgPool<Client = PgClient> {
  connect(): Promise<Client>
  connect(callback: (error: Error | undefined, client: Client | undefined, done: () => void) => void): void
}

export interface PgClient extends CancelTarget, ListeningClient {
  /** Where `pg` tells of every error that the server sends; absent in its native client. */
  readonly connection?: PgErrors
  query(config: PgQuery): Promise<PgResult | readonly PgResult[]>
  release(error?: Error): void
}

export interface PgQuery {
  name?: string
  text: string
  values: unknown[]
}

interface PgErrors {
  on(event: 'errorMessage', listener: (error: Error) => void): unknown
  off(event: 'errorMessage', listener: (error: Error) => void): unknown
}

export interface PgResult {
  readonly command: string
  readonly rows: readonly Row[]
}

/** How statements are sent. */
export interface PgSessionOptions {
  /**
   * Keep statements that are sent again and again on their own prepared on each connection, under names that start
   * with `holdfast_`. Ends by itself behind a pooler that does not know prepared statements. @default true
   */
  readonly prepare?: boolean
  /**
   * Send the beginning of a transaction, and with it the lock, together with the first statement of the work: one round
   * trip less.
   *
   * The work is then called before the lock is granted. Its first statement runs under the lock, and so does everything
   * after the answer to that; what it does before, other than with the database, does not. When the lock cannot be
   * had, no statement of the work is run, and the call rejects as always. @default false
   */
  readonly pipeline?: boolean
}

/** Sessions on the connections of a `pg` pool. The caller's work receives the pool's own client. */
export function sessions<Client extends PgClient>(
  pool: PgPool<Client>,
  { prepare = true, pipeline = false }: PgSessionOptions = {},
): Sessions<Client> {
  const names = prepare ? statementNames(pool) : undefined
  return {
    open: async () => sessionOf(await pool.connect(), { names, pipeline }),
    listen: listenOn(pool),
  }
}

interface Manner {
  readonly names: StatementNames | undefined
  readonly pipeline: boolean
}

function sessionOf<Client extends PgClient>(client: Client, manner: Manner): Session<Client> {
  const failure = firstFailure()
  // A connection that breaks while nothing runs on it tells only its listeners; without one, that ends the process.
  client.on('error', ignore)
  client.connection?.on('errorMessage', failure.note)
  return {
    tx: client,
    ...statementsOn(client, manner, failure),
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

type Statements = Pick<Session, 'run' | 'begin' | 'ride' | 'commit' | 'rollback'>

function statementsOn(client: PgClient, { names, pipeline }: Manner, failure: Failure): Statements {
  let isOpen = false
  let rider: Rider | undefined
  const rollback = async (): Promise<void> => {
    const stage = rider?.end()
    if (stage === 'under way') throw new Error('the transaction waits to begin')
    if (stage !== 'unsent') await send(client, 'ROLLBACK')
    isOpen = false
  }
  const ride = (start: TransactionStart = {}): Promise<readonly Row[]> => {
    const texts = beginTexts(start)
    rider = riderOf(client)
    failure.forget()
    isOpen = true
    return rider.start(texts)
  }
  return {
    run: async (statement) => {
      const { sql, params, isPrepared } = sqlOnly(statement)
      const name = isPrepared === true && !isOpen ? names?.of(sql) : undefined
      const answer = await (name === undefined
        ? send(client, sql, params)
        : sendNamed(client, { name, text: sql, values: params }, names))
      return answer?.rows ?? []
    },
    begin: async (start = {}) => {
      const text = beginText(start)
      failure.forget()
      isOpen = true
      return (await undoneOnError(() => send(client, text), rollback))?.rows ?? []
    },
    ...(pipeline && { ride }),
    commit: async () => {
      // The server answers COMMIT of a failed transaction with the tag ROLLBACK, and with no error.
      const ended = await send(client, 'COMMIT')
      isOpen = false
      if (ended?.command === 'ROLLBACK') throw nothingToCommit(failure.error)
    },
    rollback,
  }
}

async function send(
  client: PgClient,
  text: string,
  values: readonly Value[] = [],
): Promise<PgResult | undefined> {
  const answer = await client.query({ text, values: [...values] })
  // without values one text may hold several statements: the last one answers
  return isList(answer) ? answer.at(-1) : answer
}

interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly Value[]
}

async function sendNamed(
  client: PgClient,
  { name, text, values }: NamedStatement,
  names: StatementNames | undefined,
): Promise<PgResult | undefined> {
  try {
    return (await client.query({ name, text, values: [...values] })) as PgResult
  } catch (error) {
    // not run, and there is no transaction that the error could have ended
    if (names?.isRefused(error, name) !== true) throw error
    return send(client, text, values)
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

/** The same, one by one: no text of the head has a semicolon but between two statements. */
function beginTexts(start: TransactionStart): readonly string[] {
  return beginText(start).split('; ')
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
