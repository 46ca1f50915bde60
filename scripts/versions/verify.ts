import { readFile } from 'node:fs/promises'

import type { SubjectReport, Verdict } from '../../src/conformance/report.ts'
import { verifySubject, type VerifyProgress } from '../../src/conformance/verify.ts'
import { findDriver } from '../../src/connect/drivers.ts'
import { subjectOf, type Adapter } from '../../test/conformance/subjects.ts'
import type { Server } from '../../test/engines/engine.ts'
import { loadEngine } from '../../test/engines/engine-list.ts'
import { project } from '../docs/place.ts'
import type { Result } from './results.ts'
import type { Target } from './targets.ts'

export interface Found {
  readonly result: Result
  readonly report: SubjectReport
}

export interface Way {
  readonly adapter: Adapter
  readonly seed: number
  readonly onProgress: (progress: VerifyProgress) => void
}

/** Only against laws that hang: a machine that is busy with other things is no finding. */
const lawWithinMs = 180_000

/** Runs the laws on a server, in a database of their own, reached in one way. */
export async function verifyServer(target: Target, server: Server, way: Way): Promise<Found> {
  const { adapter, seed, onProgress } = way
  const engine = await (await loadEngine(target.engine)).connect(server)
  try {
    const { url } = engine.server
    const packageName = adapter === 'driver' ? findDriver(url).name : adapter
    const driver = await nameAndVersion(packageName)
    const title = `${target.id} through ${driver}`
    const report = await verifySubject(
      { ...subjectOf(target.engine, adapter, url), title },
      { seed, onProgress, timeoutMs: lawWithinMs },
    )
    const version = plainVersion(server)
    const result = resultOf(report, { target: target.id, version, adapter: packageName, driver })
    return { report, result }
  } finally {
    await engine.close().catch(() => {}) // what went wrong with the server is in the report
  }
}

/** Without the packager's words. */
export function plainVersion({ version }: Server): string {
  return /^[\d.]*\d/.exec(version)?.[0] ?? version
}

/** For people: `pg 8.23.1`. What comes with Node has Node's version. */
export async function nameAndVersion(packageName: string): Promise<string> {
  if (packageName.startsWith('node:')) return `${packageName} of Node ${process.versions.node}`
  const file = new URL(`node_modules/${packageName}/package.json`, project)
  const { name, version } = JSON.parse(await readFile(file, 'utf8')) as { name: string; version: string }
  return `${name} ${version}`
}

function resultOf(
  { results }: SubjectReport,
  names: Pick<Result, 'target' | 'version' | 'adapter' | 'driver'>,
): Result {
  const ids = (wanted: Verdict): readonly string[] =>
    results.filter(({ verdict }) => verdict === wanted).map(({ id }) => id)
  return {
    ...names,
    architecture: process.arch,
    node: process.versions.node,
    on: new Date().toISOString().slice(0, 10),
    held: ids('holds').length,
    refused: ids('refused'),
    notPromised: ids('not-promised'),
    broken: ids('broken'),
  }
}
