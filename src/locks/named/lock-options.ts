import { checkFlag, checkObject, oneOf, onlyKnown, waitWithoutSkip } from '../../core/check-field.ts'
import type { LockMode, Wait } from '../../core/request.ts'
import { checkTransaction, transactionFields, type TransactionOptions } from '../transaction/options.ts'

/** How a named lock is taken. */
export interface LockOptions {
  /** `shared` holders exclude only those who want `exclusive`. @default 'exclusive' */
  readonly mode?: LockMode
  /** What to do while another caller holds the lock: the time is that of each lock by itself. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Refuse a stronger or emulated lock too. @default false */
  readonly exact?: boolean
  /** What to do when the same chain of calls holds it already: refuse, or go on under the lock it has. @default 'refuse' */
  readonly reentry?: 'refuse' | 'join'
}

/** A named lock that is taken in a transaction that is under way. */
export interface JoinOptions extends LockOptions {
  /**
   * Leave the transaction usable when the lock is not granted, where an error would end it: with a savepoint.
   *
   * @default false
   */
  readonly savepoint?: boolean
}

/** A named lock, and the transaction that is held under it. */
export interface WithLockOptions extends LockOptions, TransactionOptions {}

export type CheckedLock = Required<LockOptions>

type Asked = { readonly [Field in keyof LockOptions]: LockOptions[Field] | undefined }

const known = ['mode', 'wait', 'exact', 'reentry'] as const
const knownOfBoth = [...known, ...transactionFields]

export function checkJoin(asked: JoinOptions): CheckedLock {
  checkObject('options', asked, [...known, 'savepoint'])
  const { savepoint, ...options } = asked
  checkFlag('savepoint', savepoint)
  onlyKnown(options, known)
  return checkLock(options)
}

/** The lock's own options, and those of the transaction, among which the lock's may be too: to part them takes a while. */
export function checkWithLock(options: WithLockOptions): {
  readonly lock: CheckedLock
  readonly transaction: TransactionOptions
} {
  checkObject('options', options, knownOfBoth)
  return { lock: checkLock(options), transaction: checkTransaction(options, knownOfBoth) }
}

function checkLock({ mode = 'exclusive', wait, exact, reentry = 'refuse' }: Asked): CheckedLock {
  return {
    mode: oneOf('mode', mode, ['exclusive', 'shared']),
    wait: waitWithoutSkip(wait),
    exact: checkFlag('exact', exact),
    reentry: oneOf('reentry', reentry, ['refuse', 'join']),
  }
}
