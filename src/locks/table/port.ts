import type { Deadline } from '../../core/deadline.ts'
import type { Plan } from '../../core/plan.ts'
import type { TableRequest, Wait } from '../../core/request.ts'
import type { SqlStatement } from '../../core/statement.ts'
import type { LockStory } from '../../events/lock-story.ts'
import type { OpenTransaction, Server } from '../port.ts'

export type PlanTable = (server: Server, request: TableRequest) => Plan

/** The tables that a transaction locks as it begins. */
export interface TableOpening {
  readonly wait: Exclude<Wait, 'skip'>
  /** Until when this attempt may wait for them. */
  deadline: Deadline
  /** What those are told who listen to locks: one for each table. Undefined where nobody does. */
  readonly stories: readonly LockStory[] | undefined
  /** The transaction is run again, and had its locks: what it waits now is waited anew. */
  readonly waitAnew: () => void
  /** Plans the locks on the server of an attempt. */
  readonly prepare: (open: OpenTransaction<unknown>) => Promise<PreparedTables>
}

/** The locks of an opening on one server. */
export interface PreparedTables {
  /** The word behind BEGIN that is the lock. */
  readonly mode?: string | undefined
  /** What begins the transaction in place of BEGIN. */
  readonly by?: readonly SqlStatement[] | undefined
  /** What travels with BEGIN. */
  readonly head: readonly SqlStatement[]
  /** Sends the beginning, and says what its refusal means. */
  readonly around: <T>(send: () => Promise<T>) => Promise<T>
  /** Takes those that did not come with the beginning, and notes what is held. */
  readonly take: () => Promise<void>
}
