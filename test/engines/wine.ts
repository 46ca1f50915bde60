import { readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { aptProgram } from './apt-program.ts'
import type { Unavailable } from './engine.ts'
import { runCommand } from './run-command.ts'
import { template } from './template.ts'

// As root, an account that owns nothing. A user namespace would not do: inside it a program still owns root's files.
const isRoot = process.getuid?.() === 0
const LIMITS = ['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']
const asNobody = isRoot ? ['setpriv', '--reuid=nobody', '--regid=nogroup', ...LIMITS] : []

/** The words that run a Windows program, without any privileges. */
export function underWine(wine: string): readonly string[] {
  return ['env', ...asNobody, wine]
}

/** Makes a folder the property of the account that the program runs under. */
export async function giveToWine(folder: string): Promise<void> {
  if (isRoot) await runCommand('chown', ['-R', 'nobody:nogroup', folder])
}

/** The whole environment of a program. `prefix` is Wine's own word for the folder with registry and drives. */
export function wineEnvironment(prefix: string, temporary: string): NodeJS.ProcessEnv {
  return {
    PATH: '/usr/bin:/bin',
    USER: 'wine',
    HOME: prefix,
    TMPDIR: temporary, // for the socket of Wine's server, which would stay in /tmp otherwise
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=', // no .NET and no browser: Wine would offer to download them
  }
}

/** Wine's 64-bit loader, installed with Debian's packages when it is not there and we may do that. */
export async function wineLoader(): Promise<string | Unavailable> {
  return aptProgram({ name: 'wine64', folders: ['/usr/lib/wine'] })
}

/** What Wine makes at its first start, made once and kept in the cache: it takes seconds and 700 MB. */
export async function winePrefix(wine: string): Promise<string> {
  const version = (await runCommand(wine, ['--version'])).trim()
  return template({
    engine: 'wine',
    id: [version, ...asNobody].join(' '),
    make: async (folder) => {
      await giveToWine(folder)
      const prefix = join(folder, 'data')
      const [command = '', ...args] = underWine(wine)
      const options = { env: wineEnvironment(prefix, folder), cwd: folder }
      await runCommand(command, [...args, 'wineboot.exe', '--init'], options)
      // its server writes the registry when the last program has ended
      await runCommand('env', [...asNobody, join(wine, '../wineserver64'), '--wait'], options)
      await rm(join(prefix, 'wineserver'), { force: true }) // the name of that server's socket
      await shareLibraries(prefix)
    },
  })
}

/** Nearly all of a prefix are copies of Wine's own libraries: links to them are as good and need no room. */
async function shareLibraries(prefix: string): Promise<void> {
  const library = '/usr/lib/x86_64-linux-gnu/wine/x86_64-windows'
  const names = new Set(await readdir(library).catch(() => [])) // elsewhere on other systems: then the copies stay
  const files = await readdir(join(prefix, 'drive_c'), { recursive: true, withFileTypes: true })
  for (const file of files) {
    if (!file.isFile() || !names.has(file.name)) continue
    const [copy, original] = [join(file.parentPath, file.name), join(library, file.name)]
    if (!(await readFile(copy)).equals(await readFile(original))) continue
    await rm(copy)
    await symlink(original, copy)
  }
}
