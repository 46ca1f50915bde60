import { createHash } from 'node:crypto'
import { copyFile, readFile, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

import { cacheFolder, once } from '../../test/engines/cache-folder.ts'
import { unpackNpmTarball } from '../../test/engines/npm-tarball.ts'
import { download, runCommand } from '../../test/engines/run-command.ts'
import { tarballOf, type Release } from './release.ts'

/** A Node, and the project's packages as that Node needs them. */
export interface InstalledNode {
  /** The environment in which `node` and `npm` are this Node's. */
  readonly env: NodeJS.ProcessEnv
  readonly modules: string
}

const platform = `${process.platform}-${process.arch}`
const sqlite13 = {
  spec: 'better-sqlite3@13.0.3',
  sha256: '77e0513dc1a469fb3bceec4c7fb5ad3f403109787eda05be047ec17fd56868cb',
  sinceNode: 22,
}
/** better-sqlite3 is the only package that has anything to compile. */
const withoutCompiling = ['ci', '--ignore-scripts']
const manifests = ['package.json', 'package-lock.json', '.npmrc']

/** Fetches a Node, and installs with it what the lock file names; both are kept in the cache. Rejects with the reason. */
export async function installNode(release: Release, project: string): Promise<InstalledNode> {
  const unpack = (draft: string): Promise<void> =>
    unpackNpmTarball({ ...tarballOf(release, platform), paths: ['package/bin', 'package/include'] }, draft)
  const check = (folder: string): Promise<string> =>
    runCommand(join(folder, 'package/bin/node'), ['--version'])
  const node = await once(cacheFolder(`node-${release.version}-${platform}`), unpack, check)
  const env = environmentOf(join(node, 'package'))
  const packages = await once(await packagesFolder(release, project), async (draft) => {
    for (const name of manifests) await copyFile(join(project, name), join(draft, name))
    const hasSqlite13 = release.major >= sqlite13.sinceNode
    await download(
      `the packages for Node ${release.version}`,
      'npm',
      hasSqlite13 ? withoutCompiling : ['ci'],
      {
        cwd: draft,
        env,
        timeoutMs: 1_800_000,
      },
    )
    if (hasSqlite13) await replaceSqlite(draft)
  })
  return { env, modules: join(packages, 'node_modules') }
}

/**
 * Where better-sqlite3 13 runs it takes the place of the lock file's 12: it brings a binary for every Node, and 12 ends
 * Node 24.19 and later with a failed assertion (RemoveEnvironmentCleanupHook) when a handle is collected.
 */
async function replaceSqlite(folder: string): Promise<void> {
  const place = join(folder, 'node_modules/better-sqlite3')
  await rm(place, { recursive: true })
  await unpackNpmTarball(sqlite13, folder)
  await rename(join(folder, 'package'), place)
}

/** Native modules are compiled for one Node, with the headers that came with it. */
function environmentOf(home: string): NodeJS.ProcessEnv {
  const { npm_config_nodedir: _, ...env } = process.env
  const path = [join(home, 'bin'), env.PATH].join(delimiter)
  return { ...env, PATH: path, npm_package_config_node_gyp_nodedir: home }
}

/** The lock file decides what is installed, and `allowScripts` what of it is compiled; SQLite has a rule of its own. */
async function packagesFolder({ version }: Release, project: string): Promise<string> {
  const read = (name: string): Promise<string> => readFile(join(project, name), 'utf8')
  const { allowScripts = {} } = JSON.parse(await read('package.json')) as { readonly allowScripts?: object }
  const text = (await read('package-lock.json')) + JSON.stringify([allowScripts, sqlite13])
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return cacheFolder(`packages-${version}-${platform}-${hash}`)
}
