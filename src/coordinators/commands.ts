import type { Statement } from '../core/statement.ts'
import type { LeaseCommands, LeaseKeeper } from '../dialects/lease.ts'

/** The commands of leases on a server that keeps nothing else for us. */
export interface CoordinatorCommands extends LeaseCommands {
  /**
   * Gives a row with `owner`, `fence` and `remaining_ms`, without an owner where the lease was released and is kept from
   * others still; `not-held`, without those, where it was never taken, was released or has expired.
   */
  readonly holder: (name: string) => Statement
  readonly look: NonNullable<LeaseCommands['look']>
}

/** A server that keeps leases: what it is called, what its errors mean, and how it is asked. */
export interface CoordinatorDialect extends LeaseKeeper {
  readonly lease: CoordinatorCommands
}
