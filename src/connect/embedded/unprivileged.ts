import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** How to run a program that refuses to be root. */
export interface Unprivileged {
  /** The words to put before the command; none when we are not root. */
  readonly words: readonly string[]
  /** Whether the program in this file can be run so. */
  readonly canRun: (file: string) => Promise<boolean>
  /** Makes a folder the program's own. */
  readonly give: (folder: string) => Promise<void>
}

/** A name space in which root has another number: files stay readable, and nothing changes hands. */
const mapped = ['unshare', '-U', '--map-user=65534', '--map-group=65534'] as const
const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const

/** As root: in a name space, else as nobody. Rejects where neither works. */
export async function unprivileged(): Promise<Unprivileged> {
  if (process.getuid?.() !== 0) return { words: [], canRun: asAnybody, give: asWeAre }
  if (await works([...mapped, 'true'])) return { words: mapped, canRun: asAnybody, give: asWeAre }
  if (await works([...nobody, 'true'])) {
    return {
      words: nobody,
      canRun: (file) => works([...nobody, 'test', '-x', file]),
      give: async (folder) => void (await execute('chown', ['-R', '65534:65534', folder])),
    }
  }
  throw new Error(
    'it does not run as root, and neither unshare nor setpriv can be used: run it as another user',
  )
}

function works([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  return execute(command, args).then(
    () => true,
    () => false,
  )
}

async function asAnybody(): Promise<boolean> {
  return true
}

async function asWeAre(): Promise<void> {}
