import type { Isolation } from '../core/request.ts'
import type { LeaseOptions } from '../locks/lease/options.ts'
import type { AcquireOptions } from '../locks/named/acquire.ts'
import type { JoinOptions, WithLockOptions } from '../locks/named/lock-options.ts'
import type { RowOptions } from '../locks/rows/rows.ts'
import type { TransactionOptions } from '../locks/transaction/options.ts'
import type { Action } from './action.ts'
import { stepOf, type Step } from './step.ts'

/** The words in which a schedule is written: what one session can do. Each session has a pool of its own. */
export interface SessionSteps {
  /** The next action opens a transaction with these options. */
  readonly begin: (options?: TransactionOptions) => Step
  /** Opens a transaction under a named lock, or under several. */
  readonly beginLocked: (key: string | readonly string[], options?: WithLockOptions) => Step
  /** Sees the number of the row, or the list of numbers for a list of rows. */
  readonly lockRow: (ids: number | readonly number[], options?: RowOptions) => Step
  /** Takes a named lock in the open transaction. */
  readonly lockName: (key: string, options?: JoinOptions) => Step
  /** Sees the number of the row; outside of a transaction what is committed. */
  readonly read: (id: number) => Step
  readonly write: (id: number, n: number) => Step
  /** Adds in one statement, which no race can harm. */
  readonly add: (id: number, by: number) => Step
  /** Adds to what the session has seen of the row in this transaction: the race that locks are for. */
  readonly addToSeen: (id: number, by: number) => Step
  readonly insert: (id: number, n: number) => Step
  readonly delete: (id: number) => Step
  readonly commit: () => Step
  readonly rollBack: () => Step
  /** Sees `granted` or `busy`, and holds nothing afterwards. */
  readonly tryName: (key: string, isolation?: Isolation) => Step
  /** Takes a lock that outlives transactions. */
  readonly acquire: (key: string, options?: AcquireOptions) => Step
  readonly lease: (key: string, options?: LeaseOptions) => Step
  /** Gives back what `acquire` or `lease` took. */
  readonly release: (key: string) => Step
  /** The server ends the connection of the open transaction. */
  readonly loseConnection: () => Step
  /** Aborts the signal of whatever the session waits for. */
  readonly giveUp: () => Step
  /** What the session was waiting for ends now. */
  readonly resumes: () => Step
}

/** The words for the session of this name. */
export function session(actor: string): SessionSteps {
  const does = (action: Action): Step => stepOf({ actor, action, expect: { is: 'done' } })
  return {
    begin: (options) => does({ verb: 'begin', ...(options && { options }) }),
    beginLocked: (key, options) => does({ verb: 'begin-locked', key, ...(options && { options }) }),
    lockRow: (ids, options) => does({ verb: 'lock-row', ids, ...(options && { options }) }),
    lockName: (key, options) => does({ verb: 'lock-name', key, ...(options && { options }) }),
    read: (id) => does({ verb: 'read', id }),
    write: (id, n) => does({ verb: 'write', id, n }),
    add: (id, by) => does({ verb: 'add', id, by }),
    addToSeen: (id, by) => does({ verb: 'add-to-seen', id, by }),
    insert: (id, n) => does({ verb: 'insert', id, n }),
    delete: (id) => does({ verb: 'delete', id }),
    commit: () => does({ verb: 'commit' }),
    rollBack: () => does({ verb: 'roll-back' }),
    tryName: (key, isolation) => does({ verb: 'try-name', key, ...(isolation && { isolation }) }),
    acquire: (key, options) => does({ verb: 'acquire', key, ...(options && { options }) }),
    lease: (key, options) => does({ verb: 'lease', key, ...(options && { options }) }),
    release: (key) => does({ verb: 'release', key }),
    loseConnection: () => does({ verb: 'lose-connection' }),
    giveUp: () => does({ verb: 'give-up' }),
    resumes: () => stepOf({ actor, action: 'resumes', expect: { is: 'done' } }),
  }
}
