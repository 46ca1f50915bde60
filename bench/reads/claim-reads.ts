import { reached } from '../../src/core/on-demand.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import type { TakePlan } from '../../src/dialects/claim.ts'
import { dialectOf } from '../../test/claims/workshop.ts'
import type { EngineSession } from '../../test/engines/engine.ts'
import { measuredJobs, type QueueStage } from '../queue-stage.ts'

/** What one claim has read: the same on every machine. */
export interface ClaimReads {
  readonly count: number
  readonly unit: 'rows' | 'documents' | 'pages'
  /** What the engine says of how it read. */
  readonly plan: string
}

/** Makes one claim, says what it has read, and leaves the queue as it was. */
export type ReadClaim = (stage: QueueStage, limit: number) => Promise<ClaimReads>

const token = 'a-claim-that-is-looked-at'

/** The statements of a claim as the library sends them. */
export async function planOf({ name, engine }: QueueStage, limit: number): Promise<TakePlan> {
  const dialect = dialectOf(name)
  const terms = { token, worker: 'bench', limit, visibilityMs: 60_000 }
  const { take } = await reached(dialect.claim)
  return take(measuredJobs.shape, terms, dialect.readVersion(engine.server.version))
}

/** Sends a claim's statements in their order. The rows of the last one are the jobs. */
export async function sendClaim(
  { run }: Pick<EngineSession, 'run'>,
  { steps }: TakePlan,
): Promise<readonly Row[]> {
  let seen: readonly Row[] | undefined
  let rows: readonly Row[] = []
  for (const step of steps) {
    rows = await run(typeof step === 'function' ? step(seen ?? []) : step)
    seen ??= rows
  }
  return rows
}

/** A claim that got too little would have read little, too. */
export function mustBe(limit: number, got: number): void {
  if (got !== limit) throw new Error(`the claim was to get ${limit} jobs and got ${got}`)
}

/** Frees what was claimed to be looked at. */
export function freed(isDocuments: boolean): Statement {
  if (!isDocuments)
    return {
      sql: `UPDATE job SET claim_token = NULL, claimed_until = NULL WHERE claim_token = '${token}'`,
      params: [],
    }
  const update = { q: { claim_token: token }, u: { $set: { claim_token: null, claimed_until: null } } }
  return { command: { update: 'job', updates: [{ ...update, multi: true }] } }
}
