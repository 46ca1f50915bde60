import { mkdir, readFile, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

interface Link {
  readonly source: string
  readonly target: string
}

/**
 * What a program's environment needs so that it finds its libraries.
 *
 * A package of npm's cannot hold links: it lists them, and a script makes them when it is installed. Where such scripts
 * are not run, the links are made in `folder`, and nothing is changed in the package.
 */
export async function linkedLibraries(program: string, folder: string): Promise<NodeJS.ProcessEnv> {
  const root = dirname(dirname(dirname(program)))
  const links = await listOf(join(root, 'native', 'pg-symlinks.json'))
  const missing: Link[] = []
  for (const link of links) if (!(await isThere(join(root, link.target)))) missing.push(link)
  if (missing.length === 0) return {}
  const libraries = join(folder, 'lib')
  await mkdir(libraries)
  for (const { source, target } of missing)
    await symlink(join(root, source), join(libraries, basename(target)))
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  // what is found by a link looks for what it needs itself beside the link
  const places = new Set([libraries, ...missing.map(({ source }) => dirname(join(root, source)))])
  return { [variable]: [...places, process.env[variable] ?? []].flat().join(':') }
}

async function listOf(file: string): Promise<readonly Link[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as readonly Link[]
  } catch {
    return [] // this build has none
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
