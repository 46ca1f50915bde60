import { runCommand } from './run-command.ts'

/** How to run a program that refuses to be root. */
export interface Unprivileged {
  /** The words to put before the command; none when we are not root. */
  readonly words: readonly string[]
  /** Makes a folder the program's own, where it runs under another account. */
  readonly give: (folder: string) => Promise<void>
  /** Rejects, and says what helps, when the other account cannot read this file. */
  readonly checkReads: (file: string) => Promise<void>
}

const NOBODY: readonly [string, ...string[]] = [
  'setpriv',
  '--reuid=nobody',
  '--regid=nogroup',
  '--clear-groups',
]
const NAMESPACE = ['unshare', '-U', '--map-user=65534', '--map-group=65534']

/**
 * As root, a user namespace in which root has another number: the same files stay readable and nothing is chowned.
 * Where namespaces are forbidden, the account `nobody`, which must then be able to read the program.
 */
export async function unprivileged(): Promise<Unprivileged> {
  if (process.getuid?.() !== 0) return asWeAre([])
  const canMap = await runCommand('unshare', [...NAMESPACE.slice(1), 'true']).then(
    () => true,
    () => false,
  )
  return canMap ? asWeAre(NAMESPACE) : asNobody
}

function asWeAre(words: readonly string[]): Unprivileged {
  return { words, give: async () => {}, checkReads: async () => {} }
}

/** Under an account that owns nothing. */
export const asNobody: Unprivileged = {
  words: NOBODY,
  give: async (folder) => void (await runCommand('chown', ['-R', 'nobody:nogroup', folder])),
  checkReads: async (file) => {
    const [command, ...args] = NOBODY
    await runCommand(command, [...args, 'test', '-r', file]).catch(() => {
      throw new Error(
        `the account nobody cannot read ${file}: set HOLDFAST_ENGINES_CACHE to a folder that all accounts can read`,
      )
    })
  },
}
