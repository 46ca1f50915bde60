import { parseArgs } from 'node:util'

import { laws } from '../src/conformance/laws.ts'
import type { SubjectReport, Verdict } from '../src/conformance/report.ts'
import { randomSeed, verifySubject } from '../src/conformance/verify.ts'
import { registry, type DialectName } from '../src/registry.ts'
import { loadEngine } from '../test/engines/engine-list.ts'
import { messageOf } from '../test/engines/run-command.ts'
import { describeRefusals, startEngine } from '../test/engines/sources.ts'
import { calls } from './adapters/calls.ts'
import { readAdapterResults, recordAdapterResults, type AdapterResult } from './adapters/results.ts'
import { waysTo, type AdapterWay } from './adapters/ways.ts'
import { project } from './docs/place.ts'
import { writePages } from './docs/update.ts'
import { nameAndVersion, plainVersion } from './versions/verify.ts'

/*
 * Runs the laws, and one trial of each call that has no law, through every adapter on every database that this machine
 * can have, and writes what they found into the docs. `npm run verify:adapters -- sqlite drizzle-orm` takes this
 * database, or this package, only; `-- --missing` what is not known yet on such a machine. Each finding is kept at
 * once, so a run may be ended and taken up again.
 */

const seed = randomSeed()

const dialectNames = Object.keys(registry) as readonly DialectName[]

/** Only against laws that hang: a machine that is busy with other things is no finding. */
const lawWithinMs = 180_000

type IsWanted = (engine: string, adapter: string) => boolean

/** Says a line for each way to the engine. Gives whether nothing is broken. */
async function verifyEngine(name: DialectName, isWanted: IsWanted): Promise<boolean> {
  const kind = await loadEngine(name)
  const { started, refusals } = await startEngine(kind)
  if (started === undefined) {
    console.log(`${name}: not run: ${describeRefusals(refusals)}`)
    return true
  }
  // a database of its own for each way
  const inDatabase = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    const engine = await kind.connect(started.server)
    try {
      return await work(engine.server.url)
    } finally {
      await engine.close().catch(() => {}) // what went wrong with the server is in the report
    }
  }
  try {
    const verdicts: boolean[] = []
    const all = await inDatabase(async (url) => (await waysTo(name, url)).map(({ adapter }) => adapter))
    for (const adapter of all.filter((one) => isWanted(name, one)))
      await inDatabase(async (url) => {
        const way = (await waysTo(name, url)).find((one) => one.adapter === adapter)
        if (way !== undefined) verdicts.push(await verifyWay(way, name, plainVersion(started.server)))
      })
    return !verdicts.includes(false)
  } finally {
    await started.stop()
  }
}

async function verifyWay(
  { adapter, package: used, subject }: AdapterWay,
  engine: string,
  version: string,
): Promise<boolean> {
  const options = { seed, laws: [...laws, ...calls], timeoutMs: lawWithinMs }
  const report = await verifySubject(subject, options)
  if (report.error !== undefined) {
    // it says nothing about the laws that are left
    console.log(`${report.title}: not run to the end: ${report.error}`)
    return false
  }
  const result = resultOf(report, { adapter, driver: await nameAndVersion(used), engine, version })
  const { held, refused, notPromised, broken } = result
  const counts = `${held.length} held, ${refused.length} refused, ${notPromised.length} not promised`
  console.log(`${report.title}: ${version}: ${counts}, ${broken.length} broken, ${report.tookMs} ms`)
  for (const { id, verdict, reason } of report.results)
    if (verdict === 'broken') console.log(`  ${id}: ${reason ?? ''}`)
  await recordAdapterResults([result])
  return broken.length === 0
}

function resultOf(
  { results }: SubjectReport,
  names: Pick<AdapterResult, 'adapter' | 'driver' | 'engine' | 'version'>,
): AdapterResult {
  const ids = (wanted: Verdict): readonly string[] =>
    results.filter(({ verdict }) => verdict === wanted).map(({ id }) => id)
  return {
    adapter: names.adapter,
    driver: names.driver,
    engine: names.engine,
    version: names.version,
    architecture: process.arch,
    node: process.versions.node,
    on: new Date().toISOString().slice(0, 10),
    held: ids('holds'),
    refused: ids('refused'),
    notPromised: ids('not-promised'),
    broken: ids('broken'),
  }
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: { missing: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const engines = positionals.filter((name) => dialectNames.some((known) => known === name))
  const adapters = positionals.filter((name) => !engines.includes(name))
  const known = (await readAdapterResults()).filter(({ architecture }) => architecture === process.arch)
  const isWanted: IsWanted = (engine, adapter) =>
    (adapters.length === 0 || adapters.includes(adapter)) &&
    !(values.missing && known.some((one) => one.engine === engine && one.adapter === adapter))
  const verdicts: boolean[] = []
  for (const name of dialectNames)
    if (engines.length === 0 || engines.includes(name)) verdicts.push(await verifyEngine(name, isWanted))
  for (const page of await writePages(project)) console.error(`${page} written`)
  return !verdicts.includes(false)
}

main().then(
  (isSound) => (process.exitCode = isSound ? 0 : 1),
  (error: unknown) => {
    console.error(messageOf(error))
    process.exitCode = 2
  },
)
