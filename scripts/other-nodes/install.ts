import { createHash } from 'node:crypto'
import { copyFile, readFile } from 'node:fs/promises'
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
const manifests = ['package.json', 'package-lock.json', '.npmrc']

/** Fetches a Node, and installs with it what the lock file names; both are kept in the cache. Rejects with the reason. */
export async function installNode(release: Release, project: string): Promise<InstalledNode> {
  const node = await once(cacheFolder(`node-${release.version}-${platform}`), async (draft) => {
    await unpackNpmTarball(
      { ...tarballOf(release, platform), paths: ['package/bin', 'package/include'] },
      draft,
    )
    await runCommand(join(draft, 'package/bin/node'), ['--version'])
  })
  const env = environmentOf(join(node, 'package'))
  const packages = await once(await packagesFolder(release, project), async (draft) => {
    for (const name of manifests) await copyFile(join(project, name), join(draft, name))
    await download(`the packages for Node ${release.version}`, 'npm', ['ci'], {
      cwd: draft,
      env,
      timeoutMs: 1_800_000,
    })
  })
  return { env, modules: join(packages, 'node_modules') }
}

/** Native modules are compiled for one Node, with the headers that came with it. */
function environmentOf(home: string): NodeJS.ProcessEnv {
  const { npm_config_nodedir: _, ...env } = process.env
  const path = [join(home, 'bin'), env.PATH].join(delimiter)
  return { ...env, PATH: path, npm_package_config_node_gyp_nodedir: home }
}

/** The lock file decides what is installed, and `allowScripts` what of it is compiled. */
async function packagesFolder({ version }: Release, project: string): Promise<string> {
  const read = (name: string): Promise<string> => readFile(join(project, name), 'utf8')
  const { allowScripts = {} } = JSON.parse(await read('package.json')) as { readonly allowScripts?: object }
  const text = (await read('package-lock.json')) + JSON.stringify(allowScripts)
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return cacheFolder(`packages-${version}-${platform}-${hash}`)
}
