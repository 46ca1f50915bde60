import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { architectureOf, type Architecture } from './architecture.ts'
import { cacheFolder, exists } from './cache-folder.ts'
import { withHeldName } from './held-name.ts'
import { progress } from './progress.ts'
import { download, runCommand } from './run-command.ts'

/** Which packages to take, and from which Debian release. */
export interface DebianPackages {
  readonly suite: string
  /** Of which architecture; this machine's when left out. */
  readonly architecture?: Architecture
  /** Taken with all that they depend on. */
  readonly packages?: readonly string[]
  /** Taken by themselves, without what they depend on. */
  readonly alone?: readonly string[]
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const DAY_MS = 24 * 60 * 60 * 1000

// What a server that is started by hand never uses. apt is told that they are installed already, so that neither
// they nor what they need is fetched, or even resolved: sid is often half-way through a change of perl or python.
const NOT_NEEDED =
  `perl perl-base perl-modules debconf debconf-2.0 adduser passwd dpkg tar ucf libc-bin libc-l10n
  locales init-system-helpers sensible-utils procps psmisc lsof netbase openssl ssl-cert rsync socat iproute2 gawk
  mount util-linux mysql-common mariadb-common postgresql-common postgresql-common-dev postgresql-client-common
  postgresql-common-bin pinentry-curses readline-common libpam-modules libpam-runtime systemd sysvinit-utils
  logrotate cron`.split(/\s+/)

// Large, and loaded only for things that no test does (a compiler for queries, rare character sets).
const LEFT_OUT = /^(gcc-.*-base|libc-gconv-modules-extra|libllvm.*|libz3.*)$/

/** Downloads the packages and everything they need into `folder`; apt checks the signatures. */
export async function downloadPackages(wanted: DebianPackages, folder: string): Promise<readonly string[]> {
  const { suite, architecture: { debian } = architectureOf() } = wanted
  const state = cacheFolder(`apt-${suite}-${debian}`)
  const waiting = (): void => progress(`another run uses Debian's ${suite} index: waiting for it`)
  return withHeldName(
    state,
    async () => {
      const options = await prepare(state, suite, debian)
      const isFresh = await refreshOlderThan(DAY_MS, state, options)
      try {
        return await resolveAndDownload(wanted, options, folder)
      } catch (error) {
        if (isFresh) throw error
        // sid moves daily: a file that a day-old index names may be gone
        await refreshOlderThan(0, state, options)
        return resolveAndDownload(wanted, options, folder)
      }
    },
    waiting,
  )
}

async function prepare(state: string, suite: string, debian: string): Promise<readonly string[]> {
  if (!(await exists(KEYRING))) throw new Error(`no ${KEYRING}: Debian packages could not be verified`)
  const mirror = await findMirror()
  for (const folder of ['etc/preferences.d', 'etc/apt.conf.d', 'state/lists/partial', 'archives/partial']) {
    await mkdir(join(state, folder), { recursive: true })
  }
  await writeFile(join(state, 'sources.list'), sourcesList(mirror, suite, debian))
  await writeFile(join(state, 'status'), NOT_NEEDED.map((name) => asInstalled(name, debian)).join('\n'))
  return aptSettings(state, debian)
}

/** No longer supported: the index of its security updates still names packages whose files are gone. */
const retired = new Set(['bullseye'])

/** Where apt looks for packages. Only a release has updates: sid is where they come from. */
export function sourcesList(mirror: string, suite: string, debian: string): string {
  const source = (uri: string, name: string): string =>
    `deb [arch=${debian} signed-by=${KEYRING}] ${uri} ${name} main\n`
  if (suite === 'sid' || retired.has(suite)) return source(mirror, suite)
  const security = source(`${mirror.replace(/\/$/, '')}-security/`, `${suite}-security`)
  return source(mirror, suite) + source(mirror, `${suite}-updates`) + security
}

/** The mirror that this machine's own apt is set up with, so that no host needs to be written down here. */
async function findMirror(): Promise<string> {
  const given = process.env.HOLDFAST_DEBIAN_MIRROR
  if (given !== undefined) return given
  const known = await runCommand('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI)',
    'Created-By: Packages',
  ])
  const mirror = known.split('\n').find((uri) => /\/debian\/?$/.test(uri))
  if (mirror === undefined) throw new Error('apt knows no Debian mirror here: set HOLDFAST_DEBIAN_MIRROR')
  return mirror
}

export function asInstalled(name: string, debian: string): string {
  return [
    `Package: ${name}`,
    'Status: install ok installed',
    'Maintainer: nobody',
    `Architecture: ${debian}`,
    'Multi-Arch: allowed',
    'Version: 999',
    'Description: stands in\n',
  ].join('\n')
}

export function aptSettings(state: string, debian: string): readonly string[] {
  const set = {
    'Dir::Etc': join(state, 'etc'),
    'Dir::Etc::SourceList': join(state, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': join(state, 'state'),
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': state,
    'Dir::Cache::archives': join(state, 'archives/'),
    'Dir::Log': state,
    'APT::Architecture': debian,
    'APT::Architectures': debian,
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
    'APT::Get::AllowUnauthenticated': 'false',
    'Acquire::Languages': 'none',
    'Acquire::PDiffs': 'false',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled': 'false',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'Acquire::Retries': '3',
    'Acquire::http::Timeout': '30',
    'Debug::NoLocking': 'true',
  }
  return ['-qq', ...Object.entries(set).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
}

/** Fetches the index anew when it is too old; says whether it did. */
async function refreshOlderThan(ageMs: number, state: string, options: readonly string[]): Promise<boolean> {
  const lists = join(state, 'state', 'lists')
  const indexes = (await readdir(lists)).filter((name) => name.includes('Packages'))
  const ages = await Promise.all(
    indexes.map(async (name) => Date.now() - (await stat(join(lists, name))).ctimeMs),
  )
  if (ages.some((age) => age < ageMs)) return false
  await download(
    `the index of Debian's ${basename(state).slice('apt-'.length)}`,
    'apt-get',
    [...options, 'update'],
    {
      timeoutMs: 300_000,
    },
  )
  return true
}

async function resolveAndDownload(
  { suite, packages = [], alone = [] }: DebianPackages,
  options: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  const closure = packages.length === 0 ? [] : await closureOf(packages, suite, options)
  const what = `${(packages.length === 0 ? alone : packages).join(', ')} from Debian ${suite} (${closure.length + alone.length} packages)`
  await mkdir(folder, { recursive: true })
  await download(what, 'apt-get', [...options, 'download', ...closure, ...alone], {
    cwd: folder,
    timeoutMs: 600_000,
  })
  return (await readdir(folder)).filter((name) => name.endsWith('.deb')).map((name) => join(folder, name))
}

/** The packages and all that they depend on. */
async function closureOf(
  packages: readonly string[],
  suite: string,
  options: readonly string[],
): Promise<readonly string[]> {
  const plan = await runCommand('apt-get', [...options, '-s', 'install', ...packages])
  const closure = [...plan.matchAll(/^Inst (\S+) /gm)]
    .map((match) => match[1] ?? '')
    .filter((name) => !LEFT_OUT.test(name))
  if (closure.length === 0)
    throw new Error(`apt found no way to install ${packages.join(', ')} from ${suite}`)
  return closure
}
