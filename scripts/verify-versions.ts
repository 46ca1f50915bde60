import { parseArgs } from 'node:util'

import { createProgress } from '../src/conformance/reporters/progress.ts'
import { reporters } from '../src/conformance/reporters/reporters.ts'
import { randomSeed, type VerifyProgress } from '../src/conformance/verify.ts'
import { holdfastVersion } from '../src/conformance/version.ts'
import { allAdaptersOf } from '../test/conformance/subjects.ts'
import type { Server } from '../test/engines/engine.ts'
import { messageOf } from '../test/engines/run-command.ts'
import { project } from './docs/place.ts'
import { writePages } from './docs/update.ts'
import { readResults, recordResults } from './versions/results.ts'
import { startTarget } from './versions/start.ts'
import { targetsNamed, type Target } from './versions/targets.ts'
import { verifyServer, type Found } from './versions/verify.ts'

/*
 * Runs the laws on every server version that this machine can have, one server after another, and writes what they
 * found into the docs. `npm run verify:versions -- postgres-13 mariadb-10.5` takes these only; `-- --missing` those of
 * which not all is known yet on such a machine. Each finding is kept at once, so a run may be ended and taken up again.
 */

const seed = randomSeed()

/** Says a line for each way to the target. Gives whether all laws were run, and none is broken. */
async function verifyTarget(target: Target): Promise<boolean> {
  console.error(`${target.id}: starting`)
  const started = await startTarget(target)
  if ('unavailable' in started) {
    console.log(`${target.id}: not run: ${started.unavailable}`)
    return true
  }
  try {
    return await verifyAllWays(target, started.server)
  } catch (error) {
    console.log(`${target.id}: not run to the end: ${messageOf(error)}`)
    return false
  } finally {
    await started.stop()
  }
}

async function verifyAllWays(target: Target, server: Server): Promise<boolean> {
  let isSound = true
  for (const adapter of allAdaptersOf(target.engine)) {
    const found = await verifyServer(target, server, { adapter, seed, onProgress: watcher() })
    isSound = (await keep(found)) && isSound
  }
  return isSound
}

function watcher(): (progress: VerifyProgress) => void {
  const { isTTY, columns } = process.stderr
  const progress = createProgress({ isInteractive: isTTY, columns })
  const began = performance.now()
  return ({ law, ...rest }) => {
    const step = { ...rest, law: law ?? 'done', elapsedMs: performance.now() - began }
    process.stderr.write(law === undefined ? progress.end() : progress.step(step))
  }
}

/** A run that did not come to its end says nothing about the laws that are left, so it is not kept. */
async function keep({ report, result }: Found): Promise<boolean> {
  if (report.error !== undefined) {
    console.log(`${report.title}: not run to the end: ${report.error}`)
    return false
  }
  const { version, held, refused, notPromised, broken } = result
  const counts = `${held} held, ${refused.length} refused, ${notPromised.length} not promised, ${broken.length} broken`
  console.log(`${report.title}: ${version}: ${counts}`)
  if (broken.length > 0) {
    const whole = { version: holdfastVersion, startedAt: '', tookMs: report.tookMs, seed, subjects: [report] }
    console.error(reporters.terminal(whole, { columns: 120, hasColour: false }))
  }
  await recordResults([result])
  return broken.length === 0
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: { missing: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const known = (await readResults()).filter(({ architecture }) => architecture === process.arch)
  const isWanted = ({ id, engine }: Target): boolean =>
    !values.missing || known.filter(({ target }) => target === id).length < allAdaptersOf(engine).length
  const verdicts: boolean[] = []
  for (const target of targetsNamed(positionals).filter(isWanted)) verdicts.push(await verifyTarget(target))
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
