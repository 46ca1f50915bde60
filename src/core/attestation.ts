import type { Support } from './support.ts'

/** What a server, reached as it is reached, really does. */
export interface Attestation {
  /** The name of the dialect, such as `postgres`. */
  readonly dialect: string
  /** The server's version. */
  readonly version: string
  /** Everything that was tried, and what came of it. */
  readonly capabilities: readonly AttestedCapability[]
  /** What is wrong or worth knowing, the worst first. */
  readonly findings: readonly Finding[]
  /** How long all of it took. */
  readonly tookMs: number
}

/**
 * One thing that was tried on two connections.
 *
 * `holds`: it did what is claimed. `refused`: it cannot be had here, and asking for it is an error that says so.
 * `broken`: it was granted and is worth nothing. `untried`: it could not be tried, and `detail` says why.
 */
export interface AttestedCapability {
  /** A category, or one of `advisory-session`, `lease`. */
  readonly capability: string
  /** What Holdfast promises for this dialect and version. */
  readonly claimed: Support
  /** What the server did. */
  readonly observed: 'holds' | 'refused' | 'broken' | 'untried'
  /** What was seen, in one sentence. */
  readonly detail: string
  /** How long this trial took. */
  readonly tookMs: number
}

/** How much a {@link Finding} matters. */
export type Severity = 'error' | 'warning' | 'note'

/** Something about the server or its settings that changes what locks are worth. */
export interface Finding {
  /** For scripts: `pooler-transaction-mode`, `lock-timeout-unlimited`. */
  readonly id: string
  /** How bad it is. */
  readonly severity: Severity
  /** What is the case. */
  readonly title: string
  /** Why it matters for locks. */
  readonly why: string
  /** What to do about it. */
  readonly mend: string
}

const ranks: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 }

export function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => ranks[a.severity] - ranks[b.severity])
}

/** What `locks.attest` looks at besides the locks, and when it stops. */
export interface AttestOptions {
  /** Tables that are used as queues: whether a claim on them would read finished jobs. */
  readonly queues?: readonly QueueIndex[]
  /** Ends the look; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** A queue by its table and the columns that a claim filters and then orders by. */
export interface QueueIndex {
  /** The queue's table. */
  readonly table: string
  /** The columns that a claim filters and orders by, in that order. */
  readonly columns: readonly string[]
}
