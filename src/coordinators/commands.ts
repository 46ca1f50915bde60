import type { Statement } from '../core/statement.ts'
import type { LeaseCommands, LeaseKeeper } from '../dialects/lease.ts'

/** The commands of leases on a server that keeps nothing else for us. */
export interface CoordinatorCommands extends LeaseCommands {
  /** Gives a row with `owner`, `fence` and `remaining_ms`; `not-held`, without those, where there is no such lease. */
  readonly holder: (name: string) => Statement
}

/**
 * How long a listener may take to begin. A server that is silent would keep its connection open, and the process alive,
 * long after the last who waited; without a listener one looks from time to time.
 */
export const listenWithinMs = 10_000

/** A server that keeps leases: what it is called, what its errors mean, and how it is asked. */
export interface CoordinatorDialect extends LeaseKeeper {
  readonly lease: CoordinatorCommands
}
