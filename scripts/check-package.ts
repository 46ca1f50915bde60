import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/*
 * Packs what was built and looks at it as a user would: the package's own description, the types for every way of
 * importing, and whether all of it loads in a project that has no database driver at all.
 */
const run = promisify(execFile)

async function attempt(program: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    return (await run(program, args, { ...(cwd === undefined ? {} : { cwd }), maxBuffer: 2 ** 24 })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

async function entryNames(): Promise<readonly string[]> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  const { name, exports } = JSON.parse(text) as { name: string; exports: Record<string, unknown> }
  return Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => name + path.slice(1))
}

async function loadsWithoutDrivers(tarball: string, project: string): Promise<void> {
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  await attempt('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], project)
  const { packages } = JSON.parse(
    await attempt('npm', ['query', '*'], project).then((json) => `{"packages":${json}}`),
  ) as {
    packages: { name?: string }[]
  }
  const others = packages.map(({ name }) => name).filter((name) => name !== undefined && name !== 'holdfast')
  if (others.length > 0) throw new Error(`holdfast brought along ${others.join(', ')}`)
  for (const entry of await entryNames()) {
    const code = `if (Object.keys(await import('${entry}')).length === 0) throw new Error('${entry} exports nothing')`
    await attempt(process.execPath, ['--input-type=module', '--eval', code], project)
  }
  await attempt(
    process.execPath,
    ['--input-type=commonjs', '--eval', `require('holdfast').emit.call`],
    project,
  )
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'))
  try {
    const packed = await attempt('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder])
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
    const tarball = join(folder, filename)
    await attempt('publint', ['run', tarball, '--strict'])
    await attempt('attw', [tarball, '--profile', 'esm-only', '--no-emoji'])
    await loadsWithoutDrivers(tarball, join(folder, 'project'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
