import type { Support } from './support.ts'

/** What a server, reached as it is reached, really does. */
export interface Attestation {
  readonly dialect: string
  readonly version: string
  readonly capabilities: readonly AttestedCapability[]
  /** What is wrong or worth knowing, the worst first. */
  readonly findings: readonly Finding[]
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
  readonly claimed: Support
  readonly observed: 'holds' | 'refused' | 'broken' | 'untried'
  /** What was seen, in one sentence. */
  readonly detail: string
  readonly tookMs: number
}

export type Severity = 'error' | 'warning' | 'note'

/** Something about the server or its settings that changes what locks are worth. */
export interface Finding {
  /** For scripts: `pooler-transaction-mode`, `lock-timeout-unlimited`. */
  readonly id: string
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

export interface AttestOptions {
  /** Tables that are used as queues: whether a claim on them would read finished jobs. */
  readonly queues?: readonly QueueIndex[]
  readonly signal?: AbortSignal
}

/** A queue by its table and the columns that a claim filters and then orders by. */
export interface QueueIndex {
  readonly table: string
  readonly columns: readonly string[]
}
