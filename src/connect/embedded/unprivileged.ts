import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** How to run a program that refuses to be root. */
export interface Unprivileged {
  /** The words to put before the command; none when we are not root. */
  readonly words: readonly string[]
  /** Makes a folder the program's own. */
  readonly give: (folder: string) => Promise<void>
}

/** A name space in which root has another number: files stay readable, and nothing changes hands. */
const mapped = ['unshare', '-U', '--map-user=65534', '--map-group=65534'] as const
const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const

/** As root: in a name space, else as nobody, who must then be able to read the program. Rejects where neither works. */
export async function unprivileged(): Promise<Unprivileged> {
  if (process.getuid?.() !== 0) return { words: [], give: asWeAre }
  if (await works(mapped)) return { words: mapped, give: asWeAre }
  if (await works(nobody)) {
    return {
      words: nobody,
      give: async (folder) => void (await execute('chown', ['-R', '65534:65534', folder])),
    }
  }
  throw new Error(
    'it does not run as root, and neither unshare nor setpriv can be used: run it as another user',
  )
}

function works([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  return execute(command, [...args, 'true']).then(
    () => true,
    () => false,
  )
}

async function asWeAre(): Promise<void> {}
