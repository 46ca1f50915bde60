import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { download, runCommand } from './run-command.ts'

export interface NpmTarball {
  /** Name and exact version, as in `name@1.2.3`. */
  readonly spec: string
  readonly sha256: string
  /** Only these paths of the package; everything when left out. */
  readonly paths?: readonly string[]
}

/**
 * Unpacks a package of the npm registry into `folder`, which gets its `package/` folder.
 *
 * Fetched with `npm pack`, not installed: nothing of the package is run, and nothing that it depends on is fetched.
 */
export async function unpackNpmTarball(
  { spec, sha256, paths = [] }: NpmTarball,
  folder: string,
): Promise<void> {
  const said = await download(spec, 'npm', ['pack', spec, '--silent', '--pack-destination', folder], {
    cwd: folder,
  })
  const file = join(folder, said.trim().split('\n').at(-1) ?? '')
  const sum = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  if (sum !== sha256) throw new Error(`${spec} has the checksum ${sum}, not the expected ${sha256}`)
  await runCommand('tar', ['-xzf', file, '-C', folder, ...paths])
  await rm(file)
}
