import { describeUrl } from './describe-url.ts'
import { progress } from './progress.ts'
import { messageOf } from './run-command.ts'
import {
  checkRequired,
  requiredEngines,
  startEngines,
  stopEngines,
  type EngineStart,
} from './start-engines.ts'

/** Prints which engines this machine can run, and why not the others. */
async function main(): Promise<void> {
  progress('starting every engine; the first time this downloads servers into the cache')
  const required = await requiredEngines()
  const starts = await startEngines()
  for (const line of tableOf(starts)) console.log(line)
  await stopEngines(starts)
  checkRequired(required, starts)
}

function tableOf(starts: readonly EngineStart[]): readonly string[] {
  const head = ['engine', 'version', 'where from', 'ready in', 'address']
  const rows = starts.map(({ name, started, tookMs }) =>
    started === undefined
      ? [name, '-', 'not here', '-', '-']
      : [
          name,
          started.server.version,
          started.server.origin,
          `${Math.round(tookMs)} ms`,
          describeUrl(started.server.url),
        ],
  )
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  const reasons = starts
    .filter(({ started }) => started === undefined)
    .flatMap(({ name, refusals }) => [
      '',
      `${name} is not here:`,
      ...refusals.map(({ origin, reason }) => `  ${origin === undefined ? '' : `${origin}: `}${reason}`),
    ])
  return [line(head), ...rows.map(line), ...reasons]
}

main().catch((error: unknown) => {
  console.error(messageOf(error))
  process.exitCode = 1
})
