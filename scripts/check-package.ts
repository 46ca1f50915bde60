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

type Conditions = Readonly<Record<string, string>>

/** The ways into the package, and the files that each leads to. Throws where one of them lacks a file that others have. */
async function entries(): Promise<ReadonlyMap<string, Conditions>> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  const { name, exports } = JSON.parse(text) as { name: string; exports: Record<string, Conditions> }
  const paths = Object.keys(exports).filter((path) => !path.endsWith('.json'))
  for (const path of paths) {
    const { default: esm = '', ...others } = exports[path] ?? {}
    const types = esm.replace(/\.js$/, '.d.ts')
    const cjs = esm.replace('/dist/', '/cjs/')
    const wanted = { types, 'module-sync': esm, module: esm, require: cjs }
    if (JSON.stringify(others) !== JSON.stringify(wanted))
      throw new Error(`exports["${path}"] must be ${JSON.stringify({ ...wanted, default: esm })}`)
  }
  return new Map(paths.map((path) => [name + path.slice(1), exports[path] ?? {}]))
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
  for (const [entry, { require: cjs = '' }] of await entries()) await loads(entry, { cjs, project })
}

/** By `import`, by `require`, which is the same module, and as the tools do that cannot require an ES module. */
async function loads(
  entry: string,
  { cjs, project }: { readonly cjs: string; readonly project: string },
): Promise<void> {
  const code = `
    const names = Object.keys(await import('${entry}'))
    if (names.length === 0) throw new Error('${entry} exports nothing')
    const required = createRequire('${project}/')('${entry}')
    if (required[names[0]] !== (await import('${entry}'))[names[0]]) throw new Error('${entry} is loaded twice')
    const old = Object.keys(createRequire('${project}/')('./node_modules/holdfast/${cjs}'))
    if (String(old.toSorted()) !== String(names.toSorted())) throw new Error('${cjs} exports ' + old)`
  const load = `import { createRequire } from 'node:module'\n${code}`
  await attempt(process.execPath, ['--input-type=module', '--eval', load], project)
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'))
  try {
    const packed = await attempt('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder])
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
    const tarball = join(folder, filename)
    await attempt('publint', ['run', tarball, '--strict'])
    // the types are those of the ES modules, which is what Node gives to `require` as well: cjs is for Jest, not for tsc
    const rules = ['--ignore-rules', 'false-esm']
    await attempt('attw', [tarball, '--profile', 'esm-only', '--no-emoji', ...rules])
    await loadsWithoutDrivers(tarball, join(folder, 'project'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
