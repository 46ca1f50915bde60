import { open as openFile, writeFile } from 'node:fs/promises'

import { createProgress } from '../conformance/reporters/progress.ts'
import { reporters } from '../conformance/reporters/reporters.ts'
import type { Report, SubjectReport } from '../conformance/report.ts'
import { hasBroken, randomSeed, verifySubject, type VerifyProgress } from '../conformance/verify.ts'
import { holdfastVersion } from '../conformance/version.ts'
import { laws } from '../conformance/laws.ts'
import { CliUsageError, exitCodes, type Call, type Command, type Outcome, type Terminal } from './command.ts'
import { addressOfEnvironment } from './one-address.ts'
import { candidatesFor, type Candidate } from './verify-subjects.ts'
import { readVerifyOptions, verifyOptions, type ReportOutput, type VerifyRequest } from './verify-options.ts'

/** Runs the laws on databases that are made for it, and says what each lock is worth there. */
export const verify: Command = {
  name: 'verify',
  parameters: '[module...] [url...]',
  summary: 'Test what each lock really does on these servers, or without an address on embedded databases',
  options: verifyOptions,
  run: async (call) => {
    if (call.flag('list')) return { text: lawList(), exitCode: exitCodes.ok }
    const request = readVerifyOptions(call)
    const { terminal } = call
    await checkWritable(request.outputs)
    const { candidates, advice } = await candidatesFor(placesOf(call), request.useEmpty, terminal)
    const report = await verifyAll(candidates, request, terminal)
    const unwritten = await writeReports(report, request.outputs, terminal)
    if (advice !== undefined) terminal.progress(`${advice}\n`)
    return unwritten === '' ? outcomeOf(report, terminal) : { text: unwritten, exitCode: exitCodes.unwritten }
  },
}

/** Databases are made on a server only where the command line names it: `DATABASE_URL` may be set for something else. */
function placesOf({ positionals, flag, terminal }: Call): readonly string[] {
  return flag('env') ? [...positionals, addressOfEnvironment('verify', terminal)] : positionals
}

async function verifyAll(
  candidates: readonly Candidate[],
  request: VerifyRequest,
  terminal: Terminal,
): Promise<Report> {
  const began = performance.now()
  const startedAt = new Date().toISOString()
  const { seed = randomSeed() } = request
  const tell = progressOf(terminal, candidates.length)
  const reports: SubjectReport[] = []
  for (const candidate of candidates) {
    const why = whyOver(reports, request, terminal)
    const report =
      why === undefined
        ? await verifyOne(candidate, { ...request, seed }, { terminal, tell: tell.next() })
        : await leaveOut(candidate, why)
    reports.push(report)
  }
  tell.end()
  const tookMs = Math.round(performance.now() - began)
  return { version: holdfastVersion, startedAt, tookMs, seed, subjects: reports }
}

/** Why no further database is begun; undefined while the run goes on. */
function whyOver(
  reports: readonly SubjectReport[],
  { bail }: VerifyRequest,
  { signal }: Terminal,
): string | undefined {
  if (signal.aborted) return 'interrupted'
  return bail && reports.some(hasBroken) ? 'a law was broken, and --bail was given' : undefined
}

function leaveOut({ title, discard }: Candidate, why: string): Promise<SubjectReport> {
  return afterwards({ ...nothingSeen(title), notBegun: true, error: `not begun: ${why}` }, discard)
}

interface Watching {
  readonly terminal: Terminal
  readonly tell: (progress: VerifyProgress) => void
}

/** What was made for a subject is removed whatever happens. */
async function verifyOne(
  { open }: Candidate,
  { laws: chosen, repeat, timeoutMs, bail, seed }: VerifyRequest & { readonly seed: number },
  { terminal: { signal }, tell }: Watching,
): Promise<SubjectReport> {
  const subject = await open()
  if ('error' in subject) return { ...nothingSeen(subject.title), error: subject.error }
  const options = { laws: chosen, repeat, seed, timeoutMs, bail, signal, onProgress: tell }
  let report: SubjectReport
  try {
    report = await verifySubject(subject, options)
  } catch (error) {
    if (!signal.aborted) throw error
    const why = 'interrupted before all laws had run; those that ran are not counted'
    report = { ...nothingSeen(subject.title), adapter: subject.adapter, error: why }
  }
  return afterwards(report, subject.drop)
}

/** The report, with what went wrong when the database was removed. */
async function afterwards(report: SubjectReport, remove: () => Promise<void>): Promise<SubjectReport> {
  try {
    await remove()
    return report
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    return { ...report, error: [report.error, words].filter(Boolean).join('; ') }
  }
}

/** A subject on which nothing was run. */
function nothingSeen(title: string): SubjectReport {
  return { title, adapter: '', dialect: '', version: '', tookMs: 0, results: [], matrix: [] }
}

/** One line for all subjects: each has as many laws. */
function progressOf(
  terminal: Terminal,
  subjects: number,
): { readonly next: () => (progress: VerifyProgress) => void; readonly end: () => void } {
  const began = performance.now()
  const progress = createProgress(terminal)
  let before = -1
  let broken = 0
  return {
    next: () => {
      before += 1
      const brokenBefore = broken
      return ({ subject, law = 'done', done, total, broken: now }) => {
        broken = brokenBefore + now
        const all = { done: before * total + done, total: subjects * total, broken }
        const elapsedMs = performance.now() - began
        terminal.progress(progress.step({ ...all, law, subject, elapsedMs }))
      }
    },
    end: () => terminal.progress(progress.end()),
  }
}

/** Before the laws are run: a report that cannot be written would be lost with them. */
async function checkWritable(outputs: readonly ReportOutput[]): Promise<void> {
  for (const { reporter, file } of outputs) {
    if (file === undefined) continue
    try {
      await (await openFile(file, 'a')).close()
    } catch (error) {
      throw new CliUsageError(`--reporter ${reporter}: cannot write the file: ${(error as Error).message}`)
    }
  }
}

/** Gives a line for each file that could not be written: one that fails keeps no other from being written. */
async function writeReports(
  report: Report,
  outputs: readonly ReportOutput[],
  terminal: Terminal,
): Promise<string> {
  let unwritten = ''
  for (const { reporter, file } of outputs) {
    if (file === undefined) {
      terminal.write(reporters[reporter](report, terminal))
      continue
    }
    try {
      await writeFile(file, reporters[reporter](report, { columns: 120, hasColour: false }))
    } catch (error) {
      unwritten += `verify: cannot write the report ${file}: ${(error as Error).message}\n`
    }
  }
  return unwritten
}

function outcomeOf({ subjects }: Report, { signal }: Terminal): Outcome {
  const exitCode = signal.aborted
    ? exitCodes.interrupted
    : subjects.some(hasBroken)
      ? exitCodes.failed
      : subjects.some(({ error }) => error !== undefined)
        ? exitCodes.unreachable
        : exitCodes.ok
  return { text: '', exitCode }
}

function lawList(): string {
  return laws
    .map(({ id, features, says }) => `${id.padEnd(4)} ${features.join(', ')}\n     ${says}\n`)
    .join('')
}
