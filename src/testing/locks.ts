import { onlyKnown } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'
import type { LockKey } from '../core/key.ts'
import type { Row } from '../core/statement.ts'
import { joinLocks, type Locks } from '../locks.ts'
import type { Held } from '../locks/session-lock/hold.ts'
import { advance, followTimers, settled } from './clock.ts'
import { memoryDialect, memoryName } from './dialect.ts'
import type { FailOptions, TestFault } from './faults.ts'
import { heldIn, leftIn, untilWaitedFor, type TestHeld } from './held.ts'
import { Memory } from './memory.ts'
import { preload } from '../locks/preload.ts'
import { addRows, storedRows } from './rows.ts'
import { memorySessions } from './sessions.ts'

/** What work receives as `tx`: a token for `locks.lock(tx, ...)` and the like. It runs no SQL. */
export interface TestTransaction {
  readonly isDatabase: false
}

/** What a test can see of the memory, and do to it. */
export interface Testing {
  /** Makes what comes next go wrong: see {@link TestFault}. */
  readonly failNext: (fault: TestFault, options?: FailOptions) => void
  /** Breaks every connection that is open: session locks are lost, transactions are rolled back and run again. */
  readonly loseConnections: () => void
  readonly clock: {
    /**
     * Moves Holdfast's time in this process forward, and waits until what follows from that has been done. No timer of
     * yours and no `Date` is changed.
     */
    readonly advance: (ms: number) => Promise<void>
  }
  /** The locks and leases that are held now. */
  readonly held: () => readonly TestHeld[]
  /** Holds a lock as somebody else would, until it is released. */
  readonly hold: (key: LockKey) => Promise<Pick<Held, 'release' | keyof AsyncDisposable>>
  /** Settles when somebody waits for this advisory lock. Rejects when nobody does for 4 seconds. */
  readonly untilWaiting: (key: LockKey) => Promise<void>
  /** Stores rows of a table for `claim`, `work` and versioned writes, and wakes workers. Equal ids are refused. */
  readonly add: (table: string, ...rows: readonly Row[]) => Promise<void>
  /** The rows of a table as they are stored. */
  readonly rows: (table: string) => readonly Row[]
  /** Rejects when something is left: a held lock or lease, a wait, an open transaction, a fault that has not struck. */
  readonly idle: () => Promise<void>
}

/** Locks for unit tests. They are real between those who share this object, and are worth nothing beyond it. */
export interface TestLocks<Tx extends object = TestTransaction> extends Locks<Tx> {
  /** Nothing is stored, and no other process is excluded. */
  readonly isDatabase: false
  readonly dialect: typeof memoryName
  readonly testing: Testing
}

/** What the work of a test receives. */
export interface TestLocksOptions<Tx extends object> {
  /** Makes what work receives as `tx`, such as your own fake of a client: a new object for each transaction. */
  readonly tx?: () => Tx
}

/**
 * Locks in memory, for unit tests of code that takes `locks`: they exclude, wait, time out and retry as those on a database
 * do, because the code is the same. **It is not a database**: `rows` and SQL are refused.
 *
 * @example
 * const locks = createTestLocks()
 * locks.testing.failNext('serialization')
 * await locks.transaction(async () => 'run twice') // => 'run twice'
 */
export function createTestLocks(): TestLocks
export function createTestLocks<Tx extends object>(
  options: TestLocksOptions<Tx> & { readonly tx: () => Tx },
): TestLocks<Tx>
export function createTestLocks<Tx extends object>(options: TestLocksOptions<Tx> = {}): TestLocks<Tx> {
  onlyKnown(options, ['tx'])
  const { tx } = options
  preload()
  followTimers()
  const memory = new Memory()
  const makeTx = eachNew(tx ?? (() => Object.freeze({ isDatabase: false }) as unknown as Tx))
  const join = (): Locks<Tx> =>
    joinLocks<Tx, never>(memorySessions(memory, makeTx), [], { dialect: memoryDialect, version: '1' })
  return {
    ...join(),
    isDatabase: false,
    dialect: memoryName,
    testing: testingOf(memory, join()),
  }
}

/** A `tx` stands for one transaction: by a second one with the same object nobody could tell them apart. */
function eachNew<Tx extends object>(makeTx: () => Tx): () => Tx {
  const given = new WeakSet<object>()
  return () => {
    const tx: unknown = makeTx()
    if (typeof tx !== 'object' || tx === null || given.has(tx))
      throw new LockUsageError('tx', 'must make a new object for each transaction')
    given.add(tx)
    return tx as Tx
  }
}

/** `other`: locks of somebody else on the same memory. */
function testingOf<Tx>(memory: Memory, other: Pick<Locks<Tx>, 'acquire'>): Testing {
  return {
    failNext: (fault, options) => memory.faults.arm(fault, options),
    loseConnections: () => {
      for (const { lose } of memory.connections) lose()
    },
    clock: { advance },
    held: () => heldIn(memory),
    hold: (key) => other.acquire(key),
    untilWaiting: (key) => untilWaitedFor(memory, key),
    add: (table, ...rows) => addRows(memory, table, rows),
    rows: (table) => storedRows(memory, table),
    idle: async () => {
      await settled()
      const left = leftIn(memory)
      if (left.length > 0) throw new Error(`holdfast/testing is not idle: ${left.join('; ')}`)
    },
  }
}
