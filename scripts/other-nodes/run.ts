import { spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { requiredEngines } from '../../test/engines/start-engines.ts'
import type { InstalledNode } from './install.ts'

/** What depends on Node: what drivers and the library do to each other, the package as it is published. */
const testFiles = ['test/adapters', 'test/entries', 'test/newcomer.test.ts']
/** They start in seconds, and bring three drivers of quite different making. */
const engines = ['sqlite', 'duckdb', 'postgres']

/** Where the tests are run, and what is said of them. */
export interface Run {
  readonly title: string
  readonly project: string
  readonly node: InstalledNode
}

/** Whether all is well, and in a few lines what the tests came to. */
export interface Verdict {
  readonly isOk: boolean
  readonly told: string
}

/** Runs the tests that depend on Node, and then the laws, with another Node. */
export async function runOn({ title, project, node }: Run): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-node-'))
  try {
    // a copy: packages are looked for beside the file that imports them, and those of the project are another Node's
    await cp(project, folder, { recursive: true, filter: (path) => !isMade(path) })
    await symlink(node.modules, join(folder, 'node_modules'))
    const env = { ...node.env, ...(await enginesUsed()) }
    const report = join(folder, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const run = (...args: string[]): Promise<Verdict> => runNode(args, { cwd: folder, env, stdio: 'inherit' })
    const tests = await run('node_modules/vitest/vitest.mjs', 'run', ...testFiles, ...reporters)
    // the laws are shown behind it, and what failed is looked for at the end: so it is kept
    const counted = await runNode(['.ci/count.mjs', report, `${title}:`], { cwd: folder, env })
    console.log(counted.told)
    const held = await run('node_modules/tsx/dist/cli.mjs', 'src/cli/main.ts', 'verify')
    const isOk = [tests, counted, held].every((one) => one.isOk)
    return { isOk, told: held.isOk ? counted.told : `${counted.told}\nholdfast verify failed` }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** What npm, git and the build have made. */
function isMade(path: string): boolean {
  return ['node_modules', '.git', 'dist'].includes(basename(path))
}

/** Of the engines that must run, those that are used here must. */
async function enginesUsed(): Promise<NodeJS.ProcessEnv> {
  const required = (await requiredEngines()).filter((name) => engines.includes(name))
  return { HOLDFAST_ENGINES: engines.join(','), HOLDFAST_REQUIRE: required.join(',') }
}

/** Runs a script with the Node of the environment; what it says is shown, or kept where it is piped. */
async function runNode(args: readonly string[], options: SpawnOptions): Promise<Verdict> {
  const child = spawn('node', args, options)
  let told = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (told += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { isOk: code === 0, told: told.trimEnd() }
}
