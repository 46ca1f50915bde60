import { readFile, writeFile } from 'node:fs/promises'

/*
 * Keeps the lock files complete.
 *
 * A registry that does not carry a package's binaries for other platforms makes npm leave them out of the lock file,
 * and `npm ci` then refuses that file as out of step. They are added here: by exact version, and with the platform
 * that their name tells, so that no other platform fetches them.
 */

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lockfile {
  readonly packages: Readonly<Record<string, LockEntry>>
}

const systems = /(?:^|-)(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)(?:-|$)/
const processors = /(?:^|-)(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)(?:-|$)/

function missingEntries({ packages }: Lockfile): ReadonlyMap<string, LockEntry> {
  const missing = new Map<string, LockEntry>()
  for (const parent of Object.values(packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))) continue
      missing.set(`node_modules/${name}`, entryFor(name, version))
    }
  }
  return missing
}

function entryFor(name: string, version: string): LockEntry {
  const platform = name.slice(name.lastIndexOf('/') + 1)
  const [os, cpu] = [systems.exec(platform)?.[1], processors.exec(platform)?.[1]]
  if (!/^\d/.test(version) || cpu === undefined) {
    throw new Error(
      `${name}@${version} is missing from the lock file, and its name does not tell its platform`,
    )
  }
  const libc = platform.includes('-musl') ? 'musl' : platform.includes('-gnu') ? 'glibc' : undefined
  return {
    version,
    cpu: [cpu],
    dev: true,
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  }
}

function check(name: string, lockfile: Lockfile): void {
  const missing = missingEntries(lockfile)
  const addresses = Object.entries(lockfile.packages).filter(([, { resolved }]) =>
    resolved?.startsWith('http'),
  )
  for (const entry of missing.keys()) console.error(`${name} has no entry for ${entry}`)
  for (const [entry] of addresses) console.error(`${name} names a registry for ${entry}`)
  if (missing.size > 0) console.error('run: npm run lockfile')
  if (missing.size + addresses.length > 0) process.exitCode = 1
}

async function complete(name: string, lockfile: Lockfile): Promise<void> {
  const missing = missingEntries(lockfile)
  const packages = Object.entries({ ...lockfile.packages, ...Object.fromEntries(missing) })
  packages.sort(([a], [b]) => a.localeCompare(b, 'en'))
  const text = JSON.stringify({ ...lockfile, packages: Object.fromEntries(packages) }, null, 2)
  await writeFile(new URL(name, root), `${text}\n`)
  console.log(`${name}: ${missing.size} entries added`)
}

const root = new URL('../', import.meta.url)
/** Ours, and that of the packages which Holdfast is measured against. */
for (const name of ['package-lock.json', 'bench/package-lock.json']) {
  const lockfile = JSON.parse(await readFile(new URL(name, root), 'utf8')) as Lockfile
  if (process.argv.includes('--check')) check(name, lockfile)
  else await complete(name, lockfile)
}
