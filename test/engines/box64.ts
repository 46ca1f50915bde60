import { cp, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path/posix'

import { architectures } from './architecture.ts'
import { exists } from './cache-folder.ts'
import { debianRoot, debianTree, type DebianRootOptions } from './debian-root.ts'
import type { Unavailable } from './engine.ts'
import { runCommand } from './run-command.ts'
import { asNobody } from './unprivileged.ts'
import type { Wine } from './wine.ts'

/** The emulator, with a C library that is new enough for it. */
export const box64Packages: DebianRootOptions = {
  name: 'box64-debian-trixie',
  suite: 'trixie',
  architecture: architectures.arm64,
  alone: ['box64', 'libc6', 'libgcc-s1', 'libstdc++6'],
  startedByThemselves: ['usr/bin/box64'],
  isOpen: true,
}

/** Wine of x64 with the few libraries of x64 that the emulator does not have itself. */
export const winePackages: DebianRootOptions = {
  name: 'wine-debian-bookworm-amd64',
  suite: 'bookworm',
  architecture: architectures.x64,
  alone: ['wine64', 'libwine', 'libunwind8', 'liblzma5', 'libz-mingw-w64', 'libgcc-s1'],
  isOpen: true,
}

const PAGE_SIZE = 4096

/** Wine of x64 on arm64, by an emulator. Both come from Debian into the cache; nothing is installed. */
export async function emulatedWine(): Promise<Wine | Unavailable> {
  const unfit = pageSizeProblem(Number(await runCommand('getconf', ['PAGESIZE'])))
  if (unfit !== undefined) return { unavailable: unfit }
  const [box64, wine] = await Promise.all([debianRoot(box64Packages), debianTree(winePackages, completeWine)])
  const program = join(box64.path, 'usr/bin/box64')
  if (process.getuid?.() === 0) await asNobody.checkReads(program)
  return wineUnderBox64(program, wine)
}

/** Why a kernel with pages of this size cannot do; `undefined` where it can. */
export function pageSizeProblem(bytes: number): string | undefined {
  if (bytes === PAGE_SIZE) return undefined
  return `the emulator of x64 needs a kernel with pages of ${PAGE_SIZE} bytes, and here they have ${bytes}`
}

/** The words and the environment that run Wine, unpacked at `tree`, by the emulator. */
export function wineUnderBox64(box64: string, tree: string): Wine {
  const { triplet } = architectures.x64
  return {
    id: `${winePackages.name} by ${box64Packages.name}`,
    loader: [box64, join(tree, 'usr/lib/wine/wine64')],
    server: [box64, join(tree, 'usr/lib/wine/wineserver')],
    libraries: librariesIn(tree),
    environment: {
      BOX64_LOG: '0',
      BOX64_NOBANNER: '1',
      BOX64_NORCFILES: '1',
      // x64 orders what it does to memory, and arm64 does not: a database needs the order
      BOX64_DYNAREC_STRONGMEM: '3',
      BOX64_LD_LIBRARY_PATH: [`usr/lib/${triplet}`, `lib/${triplet}`]
        .map((part) => join(tree, part))
        .join(':'),
    },
  }
}

function librariesIn(tree: string): string {
  return join(tree, `usr/lib/${architectures.x64.triplet}/wine/x86_64-windows`)
}

/** Debian's Wine expects to be installed, and says so in three places. */
async function completeWine(tree: string): Promise<void> {
  // a script that has the place written in it
  await rm(join(tree, 'usr/lib/wine/wineserver'), { force: true })
  await symlink('wineserver64', join(tree, 'usr/lib/wine/wineserver'))
  // releases from 10 on look for their data one folder further down
  const data = join(tree, 'usr/share/wine/wine')
  if (!(await exists(data))) await symlink('.', data)
  // libraries that it looks for in one place only
  const mingw = join(tree, 'usr/x86_64-w64-mingw32/lib')
  for (const name of (await readdir(mingw)).filter((file) => file.endsWith('.dll')))
    await cp(join(mingw, name), join(librariesIn(tree), name))
}
