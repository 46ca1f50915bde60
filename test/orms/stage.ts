import type { SharedLocks } from '../../src/locks.ts'
import type { LockedRows } from '../../src/locks/rows/rows.ts'

export interface Account {
  readonly id: number
  readonly balance: number
}

export type OrmWait = 'nowait' | 'block' | { readonly timeoutMs: number }

/** An application that uses an ORM, with the little that the specs need of it. */
export interface OrmStage<Tx = unknown> {
  readonly locks: SharedLocks<Tx> & {
    readonly rows: (
      tx: Tx,
      query: never,
      options?: { readonly wait?: OrmWait; readonly savepoint?: boolean },
    ) => Promise<LockedRows<unknown>>
  }
  /** The ORM's own SELECT of one account, built with a `tx`, or with the ORM itself when none is given. */
  readonly query: (id: number, tx?: Tx) => unknown
  /** What that gives when it is run. */
  readonly select: (id: number, tx?: Tx) => PromiseLike<readonly Account[]>
  /** The same with the ORM's own words for a lock that skips rows. Absent where it has none. */
  readonly selectSkipping?: ((id: number, tx: Tx) => unknown) | undefined
  readonly update: (tx: Tx, account: Account) => PromiseLike<unknown>
  readonly insert: (tx: Tx, account: Account) => PromiseLike<unknown>
  /** Sends a text as it is. */
  readonly send: (tx: Tx, text: string) => Promise<unknown>
  /** Work that the ORM runs on a savepoint. */
  readonly nest: (tx: Tx, work: (inner: Tx) => Promise<void>) => Promise<unknown>
  /** A transaction of the ORM's own. */
  readonly ownTransaction: (work: (tx: Tx) => Promise<unknown>) => Promise<unknown>
  /** How many transactions can be open at once. */
  readonly size: number
  readonly close: () => Promise<void>
}

export interface OpenOptions {
  /** How many transactions can be open at once. @default 4 */
  readonly size?: number
  /** PostgreSQL: what goes with the first statement. @default a beginning that waits for nothing */
  readonly pipeline?: boolean
}

export interface StageOptions {
  readonly size: number
  readonly pipeline: boolean | undefined
}

/** An ORM, and the engines that it reaches here. */
export interface Orm {
  /** The npm package. */
  readonly name: string
  readonly engines: readonly string[]
  readonly open: (engine: string, url: string, options?: OpenOptions) => Promise<OrmStage>
  /** How nested work is given, where it can be asynchronous at all. */
  readonly nesting: (engine: string) => 'asynchronous' | 'synchronous' | 'none'
}

/** The table of accounts, as the specs begin with it. */
export const accounts: readonly string[] = [
  'DROP TABLE IF EXISTS account',
  'CREATE TABLE account (id integer PRIMARY KEY, balance_now integer NOT NULL)',
  'INSERT INTO account VALUES (1, 100), (2, 100)',
]
