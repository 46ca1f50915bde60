import { cellsOf } from './cells.ts'
import { openGround, type Ground } from './ground.ts'
import type { Law } from './law.ts'
import { laws as allLaws } from './laws.ts'
import type { LawResult, Report, SubjectReport } from './report.ts'
import { runLaw } from './run-law.ts'
import type { Sabotage, Subject } from './subject.ts'
import { describeValue } from './trace.ts'
import { holdfastVersion } from './version.ts'

/** Which laws are run, and how. */
export interface VerifyOptions {
  /** The laws to run. @default all of Holdfast's */
  readonly laws?: readonly Law[]
  /** How often each law is run. @default 1 */
  readonly repeat?: number
  /** Makes the random orders of steps the same again. @default chosen anew each time; it is in the report */
  readonly seed?: number
  /** A law that has not ended by then is broken; the time stands still with the process. @default 30_000 */
  readonly timeoutMs?: number
  /** Stop at the first law that is broken. @default false */
  readonly bail?: boolean
  /** Stops the run; the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Told before each law, and after the last. */
  readonly onProgress?: (progress: VerifyProgress) => void
  /** Makes the clients worse than they are: to see that the laws notice. */
  readonly sabotage?: Sabotage
}

/** How far a run is: told before each law and after the last. */
export interface VerifyProgress {
  readonly subject: string
  /** The law that comes now; undefined at the end of a subject. */
  readonly law: string | undefined
  /** Laws of this subject that have been run, and how many there are. */
  readonly done: number
  readonly total: number
  readonly broken: number
}

/** Runs the laws on each subject, one after another, and reports what they found. Rejects only when it is aborted. */
export async function verify(subjects: readonly Subject[], options: VerifyOptions = {}): Promise<Report> {
  const seeded = { ...options, seed: options.seed ?? randomSeed() }
  const began = performance.now()
  const startedAt = new Date().toISOString()
  const reports: SubjectReport[] = []
  for (const subject of subjects) {
    const report = await verifySubject(subject, seeded)
    reports.push(report)
    if (options.bail === true && hasBroken(report)) break
  }
  return {
    version: holdfastVersion,
    startedAt,
    tookMs: Math.round(performance.now() - began),
    seed: seeded.seed,
    subjects: reports,
  }
}

export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 31)
}

/** Whether a law is broken. */
export function hasBroken({ results }: SubjectReport): boolean {
  return results.some(({ verdict }) => verdict === 'broken')
}

/** Runs the laws on one subject. A database that cannot be reached, or dies meanwhile, is an `error` of the report. */
export async function verifySubject(
  subject: Subject,
  options: VerifyOptions & { readonly seed: number },
): Promise<SubjectReport> {
  const began = performance.now()
  const { title, adapter } = subject
  const results: LawResult[] = []
  let ground: Ground | undefined
  let error: string | undefined
  try {
    ground = await openGround(subject)
    error = await runAll(ground, options, results)
  } catch (failure) {
    options.signal?.throwIfAborted()
    error = describeValue(failure) ?? 'unknown'
  } finally {
    await ground?.close().catch(() => {}) // a server that is gone cannot say goodbye
  }
  return {
    title,
    adapter,
    dialect: ground?.server.dialect.name ?? '',
    version: ground?.server.version ?? '',
    tookMs: Math.round(performance.now() - began),
    results,
    matrix: ground === undefined ? [] : cellsOf(ground.facts, results),
    ...(error !== undefined && { error }),
  }
}

/** Gives the reason when it could not be done to the end. */
async function runAll(
  ground: Ground,
  { laws = allLaws, bail, onProgress, ...options }: VerifyOptions & { readonly seed: number },
  results: LawResult[],
): Promise<string | undefined> {
  const { title } = ground.subject
  const tell = (law: string | undefined): void => {
    const broken = results.filter(({ verdict }) => verdict === 'broken').length
    onProgress?.({ subject: title, law, done: results.length, total: laws.length, broken })
  }
  for (const law of laws) {
    options.signal?.throwIfAborted()
    tell(law.id)
    const result = await repeated(ground, law, options)
    if (result.verdict === 'broken' && !(await answers(ground))) {
      return `the database stopped answering during law ${law.id}: ${result.reason}`
    }
    results.push(result)
    if (bail === true && result.verdict === 'broken') break
  }
  tell(undefined)
  return undefined
}

/** Runs a law several times, each time with another seed, until it is broken. */
async function repeated(
  ground: Ground,
  law: Law,
  { repeat = 1, seed, ...options }: VerifyOptions & { readonly seed: number },
): Promise<LawResult> {
  let tookMs = 0
  for (let run = 1; ; run += 1) {
    const result = await runLaw(ground, law, { ...options, seed: seed + run - 1 })
    tookMs += result.tookMs
    if (run >= repeat || result.verdict !== 'holds') return { ...result, tookMs, runs: run }
  }
}

/** Whether the database is still there: otherwise a law that failed says nothing about locks. */
async function answers({ command, server }: Ground): Promise<boolean> {
  try {
    await command(server.dialect.identity.ask)
    return true
  } catch {
    return false
  }
}
