import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row, Value } from '../core/statement.ts'
import { cancel, type CancelTarget } from './pg-cancel.ts'
import { sqlOnly } from './statement-kind.ts'
import type { DriverTraits } from './traits.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'
import { accessWords, isolationWords, withoutMode } from './transaction-start.ts'

/** What is used of `pg`'s `Pool`. */
export interface PgPool {
  connect(): Promise<PgClient>
}

export interface PgClient extends CancelTarget {
  query(config: { text: string; values: unknown[] }): Promise<PgResult | readonly PgResult[]>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  release(error?: Error): void
}

export interface PgResult {
  readonly command: string
  readonly rows: readonly Row[]
}

/** Sessions on the connections of a `pg` pool. */
export function sessions(pool: PgPool): Sessions {
  return { open: async () => sessionOf(await pool.connect()) }
}

function sessionOf(client: PgClient): Session {
  const failure = firstFailure()
  let running = 0
  const send = async (text: string, values: readonly Value[] = []): Promise<PgResult | undefined> => {
    running += 1
    const answer = await client.query({ text, values: [...values] }).finally(() => (running -= 1))
    // without values one text may hold several statements: the last one answers
    return isList(answer) ? answer.at(-1) : answer
  }
  // A connection that breaks while nothing runs on it tells only its listeners; without one, that ends the process.
  client.on('error', ignore)
  return {
    run: (statement) =>
      failure.watch(async () => {
        const { sql, params } = sqlOnly(statement)
        return (await send(sql, params))?.rows ?? []
      }),
    begin: async (start = {}) => {
      failure.forget()
      await send(beginText(start))
    },
    commit: async () => {
      // The server answers COMMIT of a failed transaction with the tag ROLLBACK, and with no error.
      if ((await send('COMMIT'))?.command === 'ROLLBACK') throw nothingToCommit(failure.error)
    },
    rollback: async () => void (await send('ROLLBACK')),
    release: async () => {
      client.release()
      client.off('error', ignore)
    },
    destroy: async (why) => {
      const isBusy = running > 0
      client.release(why)
      // While it waits for a lock, the server does not notice that its client has gone.
      if (isBusy) await cancel(client)
    },
  }
}

function isList(answer: PgResult | readonly PgResult[]): answer is readonly PgResult[] {
  return Array.isArray(answer)
}

function ignore(): void {}

function beginText(start: TransactionStart): string {
  withoutMode(start)
  return ['BEGIN', ...isolationWords(start), ...accessWords(start)].join(' ')
}

/** For libraries that send their statements through `pg`. */
export const traits: DriverTraits = {
  begin: (start) => void beginText(start),
  toDriver: (value) => value,
  cleanUp: [
    { sql: 'SELECT pg_advisory_unlock_all()', params: [] },
    { sql: 'RESET lock_timeout', params: [] },
  ],
}
