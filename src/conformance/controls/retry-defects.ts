import { CommitOutcomeUnknownError, RetryableTransactionError } from '../../core/errors.ts'
import type { ErrorTable } from '../../core/classification.ts'
import { classifyFor } from '../../core/classify.ts'
import type { Session } from '../../core/session.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Client, Fault, Sabotage } from '../subject.ts'

type Transaction = Client['locks']['transaction']

/** The same client with another way to run transactions. */
function withTransaction(client: Client, transaction: Transaction): Client {
  return { ...client, locks: { ...client.locks, transaction } }
}

/** The same session with another way to commit. */
function withCommit(commit: (session: Session<object>) => Promise<void>): Fault {
  return (session) => Object.create(session, { commit: { value: () => commit(session) } }) as Session<object>
}

const neverRetries: Sabotage = {
  does: 'gives up a transaction at its first loss',
  client: (client) =>
    withTransaction(client, (work, options) =>
      client.locks.transaction(work, {
        ...options,
        onRetry: ({ error }) => {
          throw error
        },
      }),
    ),
}

export const repeatsInside: Sabotage = {
  does: 'repeats the work inside of the transaction that has lost, on top of what it had done',
  client: (client) =>
    withTransaction(client, (work, options) =>
      client.locks.transaction(async (tx) => {
        for (let attempt = 1; ; attempt += 1) {
          try {
            return await work(tx)
          } catch (error) {
            if (!(error instanceof RetryableTransactionError) || attempt === 5) throw error
          }
        }
      }, options),
    ),
}

export const retriesForEver: Sabotage = {
  does: 'repeats a lost transaction without counting and without a look at the clock',
  client: (client) =>
    withTransaction(client, (work, options) =>
      client.locks.transaction(work, { ...options, attempts: 10, budgetMs: 60_000 }),
    ),
}

export const ignoresAbort: Sabotage = {
  does: 'does not look at the signal',
  client: (client) =>
    withTransaction(client, (work, { signal: _, ...options } = {}) =>
      client.locks.transaction(work, options),
    ),
}

export const joinsUnasked: Sabotage = {
  does: 'makes a transaction inside of an open one a part of that, without being asked',
  client: (client) =>
    withTransaction(client, (work, options) =>
      client.locks.transaction(work, { ...options, nested: 'join' }),
    ),
}

export const retriesUnknownCommit: Sabotage = {
  does: 'runs the work again when nobody knows whether it was stored',
  // nobody is asked what became of the transaction
  dialect: ({ transaction: { commitProbe: _, canRepeatCommit: __, ...transaction }, ...dialect }) => ({
    ...dialect,
    transaction,
  }),
  client: (client) =>
    withTransaction(client, async (work, { verifyCommit: _, ...options } = {}) => {
      try {
        return await client.locks.transaction(work, options)
      } catch (error) {
        if (!(error instanceof CommitOutcomeUnknownError)) throw error
        return client.locks.transaction(work, options)
      }
    }),
}

const takesLossForConflict: Sabotage = {
  does: 'takes a connection that broke at COMMIT for a transaction that lost',
  dialect: (dialect) => ({ ...dialect, errors: lossAsConflict(dialect) }),
}

/** By meaning, not by code: the system can say it too (`ECONNRESET`), before the driver does. */
function lossAsConflict(dialect: Dialect): ErrorTable {
  const { codes, codeOf, otherwise } = dialect.errors
  const loss = 'loss'
  return {
    otherwise,
    codes: { ...codes, [loss]: { kind: 'serialization', transaction: 'rolled-back' } },
    codeOf: (error, isTold) =>
      classifyFor(error, dialect).kind === 'connection-lost' ? loss : codeOf(error, isTold),
  }
}

export const hidesWorkError: Sabotage = {
  does: "lets the rollback's failure take the place of the work's own error",
  client: (client, { inspector }) =>
    withTransaction(client, (work, options) =>
      client.locks.transaction(async (tx) => {
        try {
          return await work(tx)
        } catch (error) {
          // as a rollback does, it fails on a connection that is dead
          if (inspector.self !== undefined) await client.run(tx, inspector.self)
          throw error
        }
      }, options),
    ),
}

export const losesOriginalError: Sabotage = {
  does: 'reports every failure with an error of its own, and not with the one that led to it',
  client: (client) =>
    withTransaction(client, async (work, options) => {
      try {
        return await client.locks.transaction(work, options)
      } catch {
        throw new Error('the transaction failed')
      }
    }),
}

export const trustsCommit: Sabotage = {
  does: 'takes a COMMIT that the database has answered with a rollback for a success',
  session: withCommit((session) => session.commit().catch(() => {})),
}

export const reportsUndoneWork: Sabotage = {
  does: 'reports as stored what it has rolled back',
  session: withCommit((session) => session.rollback()),
}

/** Transactions that are repeated, ended or reported in a wrong way. */
export const retryDefects: readonly Sabotage[] = [
  neverRetries,
  repeatsInside,
  retriesForEver,
  ignoresAbort,
  joinsUnasked,
  retriesUnknownCommit,
  takesLossForConflict,
  hidesWorkError,
  losesOriginalError,
  trustsCommit,
  reportsUndoneWork,
]
