import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { loadEngine } from '../../test/engines/engine-list.ts'
import { messageOf } from '../../test/engines/run-command.ts'
import { startEngines, stopEngines } from '../../test/engines/start-engines.ts'
import { takeBoard } from './board.ts'
import { draw } from './draw.ts'
import { withScene } from './scene.ts'

/*
 * Takes the pictures of the documentation: what `holdfast verify` and `holdfast inspect` write about real servers, and
 * the page of `holdfast board`.
 *
 *   npm run docs:pictures              # verify takes some minutes
 *   npm run docs:pictures -- inspect   # only this one
 */

const root = new URL('../../', import.meta.url)
const program = fileURLToPath(new URL('src/cli/main.ts', root))
const tsx = fileURLToPath(new URL('node_modules/tsx/dist/cli.mjs', root))
const run = promisify(execFile)

async function holdfast(args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [tsx, program, ...args], {
    env: { ...process.env, FORCE_COLOR: '1', CI: 'true' },
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

const save = (name: string, svg: string): Promise<void> =>
  writeFile(new URL(`docs/pictures/${name}.svg`, root), svg)

async function main(): Promise<void> {
  const wanted = process.argv.slice(2)
  const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name)
  const starts = await startEngines()
  try {
    const urls = starts.flatMap(({ name, started }) =>
      started === undefined ? [] : [addressOf(name, started.server.url)],
    )
    if (isWanted('verify')) {
      const report = await holdfast(['verify', ...urls])
      await save('verify', draw({ title: 'holdfast verify $URLS', output: shortReport(report) }))
    }
    const onPostgres = async (use: (url: string) => Promise<void>): Promise<void> => {
      const postgres = starts.find(({ name }) => name === 'postgres')?.started
      if (postgres === undefined) throw new Error('there is no PostgreSQL to look at')
      const engine = await (await loadEngine('postgres')).connect(postgres.server)
      try {
        await use(engine.server.url)
      } finally {
        await engine.close()
      }
    }
    if (isWanted('inspect')) {
      await onPostgres(async (url) => {
        const output = await withScene(url, () => holdfast(['inspect', url]))
        await save('inspect', draw({ title: 'holdfast inspect $DATABASE_URL', output }))
      })
    }
    if (isWanted('board')) await onPostgres((url) => takeBoard(url, new URL('docs/pictures/', root)))
  } finally {
    await stopEngines(starts)
  }
}

/** Of an engine without a server the tests have a folder. */
function addressOf(name: string, url: string): string {
  return url.includes('://') ? url : `${name}:${join(url, 'picture.db')}`
}

/** The matrix, what its numbers are, and the last line. Between them stands why something is refused, at length. */
function shortReport(report: string): string {
  const blocks = report.trimEnd().split('\n\n')
  return [...blocks.slice(0, 2), ...blocks.slice(-1)].join('\n\n')
}

main().catch((error: unknown) => {
  console.error(messageOf(error))
  process.exitCode = 1
})
