import { LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import { begun } from './client.ts'
import { queryableOn, transactionOn, type PrismaQuery } from './driver-adapter.ts'
import { unveiled, Veiled } from './veil.ts'

/** A SELECT that Prisma has compiled and not sent yet. */
export interface Reading {
  readonly sql: string
  readonly params: readonly unknown[]
  /** Sends it, and gives what Prisma makes of the answer. */
  readonly run: () => Promise<readonly Row[]>
  /** It is not to be sent. */
  readonly drop: (why: unknown) => void
}

/**
 * Has Prisma compile a query, and stops it before it is sent.
 *
 * It is asked for in a transaction of its own, which is on the same connection: Prisma sends the queries of one tick
 * together, and this one must not be among others.
 */
export function readingOf(
  client: object,
  connection: object,
  ask: (client: object) => unknown,
): Promise<Reading> {
  return new Promise((resolve, reject) => {
    let found: Promise<unknown> = Promise.resolve()
    let isStopped = false
    let sent: Promise<unknown> | undefined
    const stop = (query: PrismaQuery, send: () => Promise<unknown>): Promise<unknown> =>
      new Promise((answer, refuse) => {
        if (isStopped) return answer(notAgain(sent))
        isStopped = true
        const run = async (): Promise<readonly Row[]> => {
          sent = send()
          answer(sent)
          return listOf(await unveiled(found))
        }
        resolve({ sql: query.sql, params: query.args, run, drop: refuse })
      })
    const reading = async (): Promise<unknown> => {
      const { tx, end } = await begun(client, (adapter) => {
        const own = queryableOn(adapter, connection)
        const queryRaw = (query: PrismaQuery): Promise<unknown> => stop(query, () => own.queryRaw(query))
        return Object.assign(transactionOn(adapter, connection), { queryRaw })
      })
      found = (async () => ask(tx))().finally(end)
      return found
    }
    reading().then(() => {
      // an error is not made for nothing: its stack is the dearest part of it
      if (!isStopped) reject(nothingSent())
    }, reject)
  })
}

/** A client may repeat what has failed, and is told so again. Behind an answer, it is another statement. */
async function notAgain(sent: Promise<unknown> | undefined): Promise<never> {
  await sent
  throw new Veiled(severalStatements())
}

function listOf(rows: unknown): readonly Row[] {
  if (Array.isArray(rows)) return rows as readonly Row[]
  throw new LockUsageError('query', 'does not give a list of rows: use findMany')
}

function severalStatements(): LockUsageError {
  return new LockUsageError(
    'query',
    'takes Prisma more than one statement, and only the rows of the first are locked: leave out include and relations, and read them after it',
  )
}

function nothingSent(): LockUsageError {
  return new LockUsageError('query', 'reads nothing from the database, so no row is locked')
}
