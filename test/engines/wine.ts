import { readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { aptProgram } from './apt-program.ts'
import type { Unavailable } from './engine.ts'
import { messageOf, runCommand } from './run-command.ts'
import { template } from './template.ts'
import { withoutServices } from './wine-registry.ts'

/** One installation of Wine. */
export interface Wine {
  /** Tells installations apart: what one has made is not given to another. */
  readonly id: string
  /** The words that run a program for Windows. */
  readonly loader: readonly string[]
  /** The words that run the server that such programs share. */
  readonly server: readonly string[]
  /** Where its own libraries for Windows are. */
  readonly libraries: string
  /** What it needs in its environment besides. */
  readonly environment: Readonly<Record<string, string>>
}

// As root, an account that owns nothing. A user namespace would not do: inside it a program still owns root's files.
const isRoot = process.getuid?.() === 0
const LIMITS = ['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']
const asNobody = isRoot ? ['setpriv', '--reuid=nobody', '--regid=nogroup', ...LIMITS] : []

/** Windows has these of its own, and what stands before them is theirs to say: nothing, or only the given file. */
const OVERRIDES = [
  'mscoree,mshtml,winemenubuilder.exe,explorer.exe=', // no .NET, no browser, no desktop
  'winebus.sys,wineusb.sys,winehid.sys=', // no devices
  'msvcp140,vcruntime140,vcruntime140_1=n', // the C++ runtime that lies beside the program
].join(';')

/** The words that run a Windows program, without any privileges. */
export function underWine({ loader }: Wine): readonly string[] {
  return ['env', ...asNobody, ...loader]
}

/** Makes a folder the property of the account that the program runs under. */
export async function giveToWine(folder: string): Promise<void> {
  if (isRoot) await runCommand('chown', ['-R', 'nobody:nogroup', folder])
}

/** The whole environment of a program. `prefix` is Wine's own word for the folder with registry and drives. */
export function wineEnvironment(wine: Wine, prefix: string, temporary: string): NodeJS.ProcessEnv {
  return {
    PATH: '/usr/bin:/bin',
    LANG: 'C',
    TZ: 'UTC',
    USER: 'wine',
    HOME: prefix,
    TMPDIR: temporary, // for the socket of Wine's server, which would stay in /tmp otherwise
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: OVERRIDES,
    ...wine.environment,
  }
}

/** Wine's 64-bit loader, installed with Debian's packages when it is not there and we may do that. */
export async function nativeWine(): Promise<Wine | Unavailable> {
  const loader = await aptProgram({ name: 'wine64', folders: ['/usr/lib/wine'] })
  if (typeof loader !== 'string') return loader
  return {
    id: (await runCommand(loader, ['--version'])).trim(),
    loader: [loader],
    server: [join(loader, '../wineserver64')],
    libraries: '/usr/lib/x86_64-linux-gnu/wine/x86_64-windows',
    environment: {},
  }
}

/** What Wine makes at its first start, made once and kept in the cache: it takes seconds and 700 MB. */
export async function winePrefix(wine: Wine): Promise<string> {
  return template({
    engine: 'wine',
    id: [wine.id, wine.libraries, OVERRIDES, ...asNobody].join(' '),
    make: async (folder) => {
      await giveToWine(folder)
      const prefix = join(folder, 'data')
      const [command = '', ...args] = underWine(wine)
      const options = { env: wineEnvironment(wine, prefix, folder), cwd: folder, timeoutMs: 300_000 }
      const said = await runCommand(command, [...args, 'wineboot.exe', '--init'], options).catch(messageOf)
      // its server writes the registry when it ends; without a server this fails
      await runCommand('env', [...asNobody, ...wine.server, '--kill'], options).catch(() => {})
      const registry = join(prefix, 'system.reg')
      if (!(await isFilled(registry))) throw new Error(`Wine made no registry: ${said}`)
      await rm(join(prefix, 'wineserver'), { force: true }) // the name of that server's socket
      await writeFile(registry, withoutServices(await readFile(registry, 'latin1')), 'latin1')
      await shareLibraries(wine.libraries, join(prefix, 'drive_c'))
    },
  })
}

async function isFilled(file: string): Promise<boolean> {
  return stat(file).then(
    ({ size }) => size > 0,
    () => false,
  )
}

/**
 * Nearly all of a prefix are copies of Wine's own libraries: links to them are as good and need no room. Those that it
 * did not copy are linked too.
 */
async function shareLibraries(libraries: string, drive: string): Promise<void> {
  const names = new Set(await readdir(libraries).catch(() => [])) // elsewhere on other systems: then the copies stay
  const files = await readdir(drive, { recursive: true, withFileTypes: true })
  for (const file of files) {
    if (!file.isFile() || !names.has(file.name)) continue
    const [copy, original] = [join(file.parentPath, file.name), join(libraries, file.name)]
    if (!(await readFile(copy)).equals(await readFile(original))) continue
    await rm(copy)
    await symlink(original, copy)
  }
  const system = join(drive, 'windows/system32')
  const here = new Set(await readdir(system))
  const missing = [...names].filter((name) => !here.has(name) && !/\.(a|def)$/.test(name))
  for (const name of missing) await symlink(join(libraries, name), join(system, name))
}
