import type { Deadline } from '../../core/deadline.ts'
import type { Session } from '../../core/session.ts'
import type { OpenTransaction, Server } from '../port.ts'
import type { SessionEnd } from '../session-end.ts'
import type { TransactionOptions } from './options.ts'

/** Where a transaction is, and how its session ends. */
interface Place<Tx> extends Server {
  readonly session: Session<Tx>
  readonly ending: SessionEnd
}

/** What is known of a transaction before it begins. `deadline`: until when BEGIN may wait. */
export function openTransaction<Tx>(
  { dialect, version, session, ending }: Place<Tx>,
  { signal, isolation, access = 'read-write', lockTimeoutMs }: TransactionOptions,
  deadline: Deadline,
): OpenTransaction<Tx> {
  return {
    dialect,
    version,
    session,
    signal,
    isolation,
    access,
    lockTimeoutMs,
    deadline,
    doubt: ending.doubt,
    isInDoubt: ending.isInDoubt,
    giveUp: ending.giveUp,
    begun: undefined,
    named: new Map(),
    joined: undefined,
    unsure: undefined,
    locking: undefined,
    parts: undefined,
    refusals: undefined,
    late: undefined,
    doom: undefined,
    isAtWork: false,
    onLeave: [],
    isStored: false,
    onStored: undefined,
    atEnd: [],
  }
}
