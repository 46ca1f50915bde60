import { findDialect, type DialectName } from '../../src/registry.ts'
import type { Sessions } from '../../src/core/session.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { createClaims, type Claims } from '../../src/locks/queue/claims.ts'
import { identify } from '../../src/locks/identify.ts'
import type { Statement } from '../../src/core/statement.ts'
import { createScope } from '../../src/locks/transaction/scope.ts'
import { runTransaction } from '../../src/locks/transaction/transaction.ts'
import { withDelayedAnswers } from '../adapters/delayed-answers.ts'
import { subjects } from '../adapters/subject.ts'

/** Claims on one database, with transactions to end a job in. */
export interface Workshop {
  readonly claims: Claims<unknown>
  /** Runs the work in a transaction; `run` sends a statement in it. */
  readonly transaction: <T>(
    work: (tx: unknown, run: (statement: Statement) => Promise<unknown>) => Promise<T>,
  ) => Promise<T>
  /** Sends a statement by itself. */
  readonly run: (statement: Statement) => Promise<unknown>
  readonly close: () => Promise<void>
}

export interface WorkshopOptions {
  /** What the server is taken for. @default what it says */
  readonly version?: string | undefined
  /** Claims as this dialect makes them. @default the engine's own */
  readonly dialect?: Dialect
  /** The adapter's title. @default the first one that reaches the engine */
  readonly adapter?: string
  /** Comes between the answer to a statement and whoever waits for it. */
  readonly onAnswer?: (statement: string) => Promise<void> | void
}

export function dialectOf(engine: string): Dialect {
  return findDialect(engine as DialectName)
}

export async function openWorkshop(
  engine: string,
  url: string,
  { version, dialect = dialectOf(engine), adapter, onAnswer }: WorkshopOptions = {},
): Promise<Workshop> {
  const subject = subjects.find(
    ({ title, engines }) => engines.includes(engine) && (adapter === undefined || title === adapter),
  )
  if (subject === undefined) throw new Error(`no adapter reaches ${engine}`)
  const { sessions, close } = await subject.connect(url)
  const heard = onAnswer === undefined ? sessions : withDelayedAnswers(sessions, onAnswer)
  return { ...workshopOn(heard, dialect, version), close }
}

function workshopOn(
  sessions: Sessions,
  dialect: Dialect,
  version: string | undefined,
): Omit<Workshop, 'close'> {
  const port = { sessions, server: identify({ dialects: [dialect], version }) }
  const scope = createScope<unknown>()
  return {
    claims: createClaims(port, scope.find),
    run: async (statement) => {
      const session = await sessions.open()
      return session.run(statement).finally(() => session.release())
    },
    transaction: (work) =>
      runTransaction({ port, scope, candidates: [dialect], planTable: noTables }, (tx) =>
        work(tx, (statement) => scope.find(tx).session.run(statement)),
      ),
  }
}

function noTables(): never {
  throw new TypeError('no table is locked here')
}
