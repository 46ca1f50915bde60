import { wallMs } from '../core/clock.ts'
import { Faults } from './faults.ts'
import { Leases } from './leases.ts'
import { LockTable } from './lock-table.ts'
import { Tables } from './tables.ts'
import { Topics } from './topics.ts'

/** A connection, as those who look on see it. */
export interface Connection {
  readonly id: string
  readonly isInTransaction: boolean
  /** Ends it, as a server or a network does that fails. */
  readonly lose: () => void
}

/** All that the connections of one `createTestLocks` share. It is gone when nobody has it any more. */
export class Memory {
  readonly locks: LockTable = new LockTable()
  readonly tables: Tables = new Tables()
  readonly topics: Topics = new Topics()
  readonly leases: Leases = new Leases(this.topics)
  readonly faults: Faults = new Faults()
  readonly connections: Set<Connection> = new Set()
  #opened = 0

  nextId(): string {
    this.#opened += 1
    return String(this.#opened)
  }

  /** Its clock: that of Holdfast in this process. */
  readonly nowMs: () => number = wallMs
}
