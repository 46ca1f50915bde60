import { checkFlag, oneOf, onlyKnown, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'

const faultNames = [
  'deadlock',
  'serialization',
  'lock-timeout',
  'connection-lost',
  'commit-unknown',
  'lease-lost',
] as const

/**
 * What can be made to go wrong.
 *
 * - `deadlock`: the next lock that is asked for inside a transaction loses, or its COMMIT when it asks for none.
 * - `serialization`: the next COMMIT of a transaction loses, so its work has run to the end.
 * - `lock-timeout`: the next advisory lock that is asked for is not granted in time; `tryLock` finds it busy.
 * - `connection-lost`: the next statement, or COMMIT before it is sent, finds its connection broken.
 * - `commit-unknown`: the next COMMIT is not answered.
 * - `lease-lost`: the next lease to be renewed, extended or used as a fence belongs to another by then.
 */
export type TestFault = (typeof faultNames)[number]

/** When a fault strikes, and how often. */
export interface FailOptions {
  /** How often. @default 1 */
  readonly times?: number
  /** Only for `commit-unknown`: whether the transaction is stored although nobody was told. @default true */
  readonly isStored?: boolean
}

interface Armed {
  readonly fault: TestFault
  readonly isStored: boolean
  left: number
}

/** What is to go wrong next. */
export class Faults {
  /** Locks that somebody was refused who may be about to wait for them. */
  readonly refused: Set<string> = new Set()
  #armed: Armed[] = []

  arm(fault: TestFault, options: FailOptions = {}): void {
    onlyKnown(options, ['times', 'isStored'])
    const { times = 1, isStored } = options
    oneOf('fault', fault, faultNames)
    if (!Number.isSafeInteger(times) || times < 1)
      throw new LockUsageError('times', `${show(times)} is not a whole number from 1 up`)
    if (isStored !== undefined && fault !== 'commit-unknown')
      throw new LockUsageError(
        'isStored',
        `only commit-unknown leaves open whether it is stored, not ${fault}`,
      )
    this.#armed.push({
      fault,
      left: times,
      isStored: isStored === undefined || checkFlag('isStored', isStored),
    })
  }

  /** Whether this goes wrong now. It is one less to come then. */
  strikes(fault: TestFault): Pick<Armed, 'isStored'> | undefined {
    const armed = this.#armed.find((one) => one.fault === fault)
    if (armed === undefined) return undefined
    armed.left -= 1
    if (armed.left === 0) this.#armed = this.#armed.filter((one) => one !== armed)
    return armed
  }

  /** What has not gone wrong yet. */
  toCome(): readonly TestFault[] {
    return this.#armed.flatMap(({ fault, left }) => Array<TestFault>(left).fill(fault))
  }
}
