import type { Sessions } from '../../core/session.ts'
import type { Target } from '../../core/request.ts'
import type { DialectTools } from '../../dialects/tools.ts'
import type { NamedLocks } from '../named/named-locks.ts'
import type { Port, Server } from '../port.ts'
import type { LockedRows, RowOptions } from '../rows/rows.ts'
import type { TransactionOptions } from '../transaction/options.ts'

/** What is tried of the locks that an application has. */
export interface TrialLocks<Tx> extends Pick<NamedLocks<Tx>, 'withLock' | 'tryLock' | 'acquire' | 'lease'> {
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>
  readonly rows: (tx: Tx, target: Target, options?: RowOptions) => Promise<LockedRows<object>>
}

/** Where attesting gets its connections from, and how it makes locks on them. */
export interface AttestPort<Tx> {
  readonly port: Port<Tx>
  /** Locks of an application of its own, on these connections. */
  readonly join: (sessions: Sessions<Tx>, server: Server) => TrialLocks<Tx>
}

/** Two applications on one server, and what they contend for. */
export interface Ground<Tx> {
  readonly port: Port<Tx>
  readonly server: Server
  readonly tools: DialectTools
  readonly a: TrialLocks<Tx>
  readonly b: TrialLocks<Tx>
  /** Chosen by chance, so that nobody else asks for the same names. */
  readonly id: string
  readonly signal: AbortSignal | undefined
}

/**
 * Two applications that meet in the server alone. In one process they would also meet in its own lines, which would
 * then be tried in the place of the server: so each has locks of its own, and none has a lane.
 */
export function twoApplications<Tx>(
  { port, join }: AttestPort<Tx>,
  server: Server,
): Pick<Ground<Tx>, 'a' | 'b'> {
  const { lane: _, ...apart } = port.sessions
  return { a: join(apart, server), b: join(apart, server) }
}
