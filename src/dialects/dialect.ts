import type { Category } from '../core/category.ts'
import type { CheckedRequest } from '../core/check-request.ts'
import type { ErrorTable } from '../core/classification.ts'
import type { PlanDraft } from '../core/plan.ts'
import type { Reach } from '../core/on-demand.ts'
import type { Unsupported } from '../core/support.ts'
import type { Version } from '../core/version.ts'
import type { LeaseStatements } from './lease.ts'
import type { ClaimStatements } from './claim.ts'
import type { DeclaredTraits } from './declared.ts'
import type { EnqueueStatements } from './enqueue.ts'
import type { NamedLockTraits, ServerDoubts } from './named-lock.ts'
import type { OnceStatements } from './once.ts'
import type { OptimisticStatements } from './optimistic.ts'
import type { DialectTools } from './tools.ts'
import type { Identity, TransactionTraits } from './transaction.ts'

/**
 * Turns a lock request into a plan for one server version, or says why that version cannot give it.
 *
 * Pure: no I/O, no clock, no chance. The request has been checked, and its defaults are filled in.
 */
export type Emitter<C extends Category> = (
  request: CheckedRequest<C>,
  version: Version,
) => PlanDraft | Unsupported

/** A database's way of locking: data and small pure functions. */
export interface Dialect {
  readonly name: string
  /** The name people know it by. */
  readonly title: string
  /** The oldest version we emit for, and the one that is assumed when none is told. */
  readonly versions: { readonly oldest: string; readonly assumed: string }
  /** Reads a version as this engine's servers spell it. */
  readonly readVersion: (text: string) => Version
  readonly cells: { readonly [C in Category]: Emitter<C> | Unsupported }
  readonly errors: ErrorTable
  readonly transaction: TransactionTraits
  readonly lease: LeaseStatements
  readonly named: NamedLockTraits
  /** How jobs are claimed. Loaded when it is asked for. */
  readonly claim: Reach<ClaimStatements>
  /** How a row is changed that was not locked. Loaded when it is asked for. */
  readonly optimistic: Reach<OptimisticStatements>
  /** How it is noted that something was done. Loaded when it is asked for. */
  readonly once: Reach<OnceStatements>
  readonly identity: Identity
  /**
   * Asks whether other servers take writes to the same data, none of which knows the locks of this one: they meet when
   * they commit. Reads why locks of this server alone are refused. Absent where no such servers are known.
   */
  readonly peers?: Pick<ServerDoubts, 'ask' | 'read'>
  /** How work is sent that is declared beforehand. Loaded when it is asked for; without it `batch` is refused. */
  readonly declared?: () => Promise<DeclaredTraits>
  /** How jobs are stored. Loaded when it is asked for; without it `enqueue` is refused. */
  readonly enqueue?: () => Promise<EnqueueStatements>
  /** For looking at servers and proving what they do. Without it `inspect`, `attest` and `adviseIndexes` are refused. */
  readonly tools?: () => Promise<DialectTools>
}

/**
 * A dialect that ships with Holdfast, with its name and its refusals in the type.
 *
 * `Refused` lists the categories that no version of the engine has. Every other category needs an emitter, so a new
 * category does not compile until each dialect has decided about it.
 */
export interface BuiltinDialect<Name extends string, Refused extends Category = never> extends Dialect {
  readonly name: Name
  readonly enqueue: () => Promise<EnqueueStatements>
  readonly tools: () => Promise<DialectTools>
  readonly cells: { readonly [C in Category]: C extends Refused ? Unsupported : Emitter<C> }
}
