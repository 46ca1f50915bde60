import type { Statement } from '../../src/core/statement.ts'
import type { SharedLocks } from '../../src/locks.ts'
import type { Body, Break, RowWait } from './body.ts'
import type { Abilities } from './generate.ts'

/** How rows are locked, as a body asks for it. */
export interface RowLock {
  readonly row: number
  readonly mode: 'exclusive' | 'shared'
  readonly wait: RowWait
  readonly savepoint: boolean
}

/** One way into the library on one engine: what a body does through it. `Tx` is what its work is given. */
export interface Ground<Tx> extends Abilities {
  readonly locks: Pick<SharedLocks<Tx>, 'transaction' | 'withLock' | 'lock'>
  readonly rows: (tx: Tx, lock: RowLock) => Promise<unknown>
  /** Sends a statement as an application does, through the driver's own methods. */
  readonly send: (tx: Tx, statement: Statement) => Promise<unknown>
  readonly say: (tx: Tx, word: 'commit' | 'rollback' | 'begin') => Promise<unknown>
  readonly stream?: (tx: Tx, statement: Statement) => Promise<unknown>
  /** What the usual helper does: it runs the work in the transaction it is given, or opens one. */
  readonly inTransactionOf?: (tx: Tx, work: (tx: Tx) => Promise<unknown>) => Promise<unknown>
  /** Breaks the network, from now on until it is mended. */
  readonly breakNetwork?: (how: Break) => void
  readonly mendNetwork?: () => void
  /** Whether a call is refused because of how the application has set up its connections. @default never */
  readonly isRefused?: (body: Body) => boolean
  /** What the server calls the connection. */
  readonly idOf?: (tx: Tx) => string
  /** What every connection of the pool is set to, and whether it is usable: all lines are alike when all are clean. */
  readonly settings: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** A way into the library, and the engines that it reaches. */
export interface Way<Tx = unknown> {
  readonly title: string
  readonly engines: readonly string[]
  /** Whether many of its bodies wait for seconds. @default false */
  readonly isSlow?: boolean
  readonly open: (url: string, engine: string) => Promise<Ground<Tx>>
}

/** So few that a connection which is not given back is missed at once. */
export const poolSize = 2

export function hideTx<Tx>(way: Way<Tx>): Way {
  return way as unknown as Way
}

/** What every driver of a database without a server can do. */
export const embedded: Abilities = {
  words: ['commit', 'rollback', 'begin'],
  isolations: [],
  canKill: false,
  canStream: false,
  canDerive: false,
  canSkip: false,
  failures: ['duplicate', 'nonsense'],
  canNumber: true,
}

/** What every driver of an SQL server can do. */
export const ofServer: Abilities = {
  ...embedded,
  isolations: ['read committed', 'repeatable read', 'serializable'],
  canKill: true,
  canSkip: true,
}
