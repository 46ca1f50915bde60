import type { Unavailable } from './engine.ts'
import { findPrograms } from './find-program.ts'
import { withHeldName } from './held-name.ts'
import { progress } from './progress.ts'
import { download, runCommand } from './run-command.ts'

/** A program that comes with a Debian package of the same name. */
export interface AptProgram {
  readonly name: string
  /** Where it may be beside the PATH. */
  readonly folders?: readonly string[]
}

/** Finds a program, or installs it with Debian's packages: only root can, and only who calls this may decide it. */
export async function aptProgram(program: AptProgram): Promise<string | Unavailable> {
  const found = await find(program)
  if (found !== undefined) return found
  const { name } = program
  const [apt] = await findPrograms('apt-get')
  if (process.getuid?.() !== 0 || apt === undefined)
    return { unavailable: `${name} is not installed, and only root could do that, with apt-get` }
  const waiting = (): void => progress(`another run is installing ${name}: waiting for it`)
  return withHeldName(
    `installing ${name}`,
    async () => (await find(program)) ?? install(program, apt),
    waiting,
  )
}

async function find({ name, folders }: AptProgram): Promise<string | undefined> {
  return (await findPrograms(name, folders))[0]
}

async function install(program: AptProgram, apt: string): Promise<string | Unavailable> {
  const { name } = program
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: 600_000 }
  const patiently = ['-o', 'DPkg::Lock::Timeout=300']
  const tryInstall = (): Promise<string> =>
    runCommand(apt, [...patiently, 'install', '-y', '--no-install-recommends', name], options)
  progress(`installing ${name} with apt-get`)
  try {
    await tryInstall()
  } catch {
    // the list of packages is missing or too old
    await download('the list of Debian packages', apt, [...patiently, 'update'], options)
    await tryInstall()
  }
  return (
    (await find(program)) ?? {
      unavailable: `apt-get installed ${name}, but there is no program of that name`,
    }
  )
}
