/** What is used of an entry of `package-lock.json`. */
export interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockEntry>>
}

interface Platform {
  readonly os: string
  readonly cpu: string
  readonly libc: string
}

/** Where `npm ci && npm test` has to work. */
const supported: readonly Platform[] = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
]

const systems = /(?:^|-)(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)(?:-|$)/
const processors = /(?:^|-)(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)(?:-|$)/

/** Optional packages that a package of the file names and that have no entry of their own. */
export function missingEntries({ packages }: Lockfile): ReadonlyMap<string, LockEntry> {
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

/**
 * Packages that a supported platform needs and that nobody has ever seen: npm notes a checksum for whatever the
 * registry has. `npm ci` leaves such a package out without a word, and its program then finds no binary.
 */
export function unseenEntries({ packages }: Lockfile): readonly string[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path !== '' && entry.link !== true && entry.integrity === undefined)
    .filter(([, entry]) => supported.some((platform) => isFor(entry, platform)))
    .map(([path]) => path)
}

function isFor({ os, cpu, libc }: LockEntry, platform: Platform): boolean {
  return allows(os, platform.os) && allows(cpu, platform.cpu) && allows(libc, platform.libc)
}

/** As npm reads these lists: none allows everything, and `!name` everything but that. */
function allows(list: readonly string[] | undefined, name: string): boolean {
  if (list === undefined || list.length === 0 || list.includes('any')) return true
  if (list.includes(`!${name}`)) return false
  return list.includes(name) || list.every((item) => item.startsWith('!'))
}

/** Packages whose entry names the registry that one machine used. */
export function entriesWithAddress({ packages }: Lockfile): readonly string[] {
  return Object.entries(packages)
    .filter(([, { resolved }]) => resolved?.startsWith('http'))
    .map(([path]) => path)
}

/** Packages whose checksum is none: npm would accept whatever it is given, or refuse what is right. */
export function entriesWithBadChecksum({ packages }: Lockfile): readonly string[] {
  return Object.entries(packages)
    .filter(([, { integrity }]) => integrity !== undefined && !isChecksum(integrity))
    .map(([path]) => path)
}

/** As the registry writes it: the 64 bytes of a SHA-512, in base64. */
function isChecksum(text: string): boolean {
  const [, digest = ''] = /^sha512-(.+)$/.exec(text) ?? []
  const bytes = Buffer.from(digest, 'base64')
  return bytes.length === 64 && bytes.toString('base64') === digest
}
