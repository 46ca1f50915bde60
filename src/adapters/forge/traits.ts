import type { TransactionStart } from '../../core/session.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { DriverTraits } from '../traits.ts'
import { oneOf } from '../../core/check-field.ts'
import { unwrap, type Layer } from '../../core/unwrap.ts'
import { withinSerializable, withoutMode } from '../transaction-start.ts'
import type { SendRaw } from './raw.ts'

/** What a client does not tell of the database below it. */
export interface ForgeTraits {
  readonly driver: Pick<DriverTraits, 'body' | 'toDriver'>
  /** What is sent before all else, so that the transaction is what was asked for. Refuses what the client cannot begin. */
  readonly first: (start: TransactionStart) => readonly string[]
  /** Whether the client is told of an isolation level. */
  readonly hasLevels: boolean
  /** Asks a transaction for its level, in the column `level`. Absent where it cannot be told. */
  readonly askLevel?: string
  /** Set as the transaction begins: gone when it has ended, whoever has ended it. */
  readonly mark?: string
  /** Fails unless the transaction is there, and can be committed. */
  readonly proof: string
  /** A text of ours as the client can send it, and read the answer: one statement at a time. */
  readonly readable: (sql: string) => readonly string[]
  /** All that the client sends goes through one connection, so that a statement on its own joins whatever is open. */
  readonly isOneConnection: boolean
  /** Ends a connection whose state is in doubt. */
  readonly cleanUp: readonly string[]
  /** Refuses a client that would not do what it is told. Called once. */
  readonly check?: (send: SendRaw) => Promise<void>
}

/** Of these the client makes nothing: a column of no type, and a number that it does not know. */
const unreadable =
  /\bpg_(?:(?:advisory_(?:xact_)?lock(?:_shared)?|advisory_unlock_all|notify)\((?:[^()]|\([^()]*\))*\)|current_xact_id\(\))/g

/** The only text of ours that is two statements. No quote is open there, since none is closed behind it. */
const second = /; (?=SET LOCAL lock_timeout = \d+$)/

type Driver = ForgeTraits['driver']

/** For a server that refuses everything after an error, until the transaction is rolled back. */
export function refusingAfterErrors(driver: Driver): ForgeTraits {
  return {
    driver,
    first: noMode,
    hasLevels: true,
    askLevel: "SELECT current_setting('transaction_isolation') AS level",
    // refused after an error, and outside of a transaction
    proof: 'SAVEPOINT holdfast_end',
    readable: (sql) => sql.replace(unreadable, '$&::text').split(second),
    isOneConnection: false,
    cleanUp: [],
  }
}

const marked = {
  mark: 'SAVEPOINT holdfast_begin',
  proof: 'RELEASE SAVEPOINT holdfast_begin',
  readable: (sql: string): readonly string[] => [sql],
} as const

/** For a server that may end a transaction after an error without a word. */
export function endingAfterErrors(driver: DriverTraits): ForgeTraits {
  return {
    ...marked,
    driver,
    first: noMode,
    hasLevels: true,
    isOneConnection: false,
    cleanUp: driver.cleanUp.map(({ sql }) => sql),
    check: async (send) => {
      // outside of a transaction it does nothing
      await send(marked.mark).catch((error: unknown) => {
        throw unwrap(error).some(isNotPrepared) ? preparesAll(error) : error
      })
    },
  }
}

/** The server's number for a statement that cannot be prepared. */
const NOT_PREPARED = 1295

function isNotPrepared({ error }: Layer): boolean {
  return [error.errno, error.originalCode].some((code) => Number(code) === NOT_PREPARED)
}

function preparesAll(cause: unknown): LockUsageError {
  return new LockUsageError(
    'client',
    'prepares every statement, and SAVEPOINT cannot be: give the adapter of Prisma useTextProtocol: true',
    { cause },
  )
}

function noMode(start: TransactionStart): readonly string[] {
  withoutMode(start)
  return []
}

/**
 * For a file, of which clients begin every transaction as a reader.
 *
 * The write lock comes with the first statement that is for writers: this one changes nothing but in a database that
 * is vacuumed step by step, where it frees one page.
 */
export function oneFile(driver: Driver): ForgeTraits {
  return {
    ...marked,
    driver,
    first: (start) => {
      withinSerializable(start)
      const { mode } = start
      if (mode === undefined) return []
      oneOf('mode', mode, ['IMMEDIATE'])
      return ['PRAGMA incremental_vacuum(1)']
    },
    hasLevels: false,
    isOneConnection: true,
    cleanUp: [],
    check: async (send) => {
      const [row] = await send('SELECT timeout FROM pragma_busy_timeout')
      if (Number(row?.timeout) !== 0) throw waitsInDriver()
    },
  }
}

function waitsInDriver(): LockUsageError {
  return new LockUsageError(
    'client',
    'waits for a locked file inside its driver (busy_timeout), and blocks this process: give its adapter timeout: 0',
  )
}
