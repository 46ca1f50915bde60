/** One Node of the npm registry, as `node-<platform>-<arch>` with its headers. */
export interface Release {
  readonly major: number
  readonly version: string
  /** The checksums of the tarballs, by platform. */
  readonly sha256: Readonly<Record<string, string>>
}

/** Every Node that Holdfast supports, in the newest version that the registry has for both architectures. */
export const releases: readonly Release[] = [
  {
    major: 20,
    version: '20.20.2',
    sha256: {
      'linux-x64': 'c3e7aaf69557617ff16376e83078daf2e862f086399b32b341f68ebcd5e72781',
      'linux-arm64': '22f39737865492ba68bf7aa0f01f3af5b0ed5d9144b75a0ad52459c32d447998',
    },
  },
  {
    major: 22,
    version: '22.23.3',
    sha256: {
      'linux-x64': '00b5c43d88958dbbf45339c4d5e9a76289c7e25876fd08270b379e485e151fc5',
      'linux-arm64': '894b9938b215d40b3a38db094ef436d02b3bc7dd16f04fca145a4735cd9e9035',
    },
  },
  {
    major: 24,
    version: '24.21.0',
    sha256: {
      'linux-x64': '61ecf27ad70afee991b671c28561eb497028294a67d132f9bbaac9ad73f81d3b',
      'linux-arm64': 'fba3076c16d21e5d814577436bdcb782b9b66bed09c6fa8278298e8933288bbb',
    },
  },
]

/** The releases that are asked for, by their majors; when none is named, all but the one that runs. */
export function chosenReleases(words: readonly string[], running: string): readonly Release[] {
  if (words.length === 0) return releases.filter(({ major }) => major !== Number.parseInt(running, 10))
  return words.map((word) => {
    const found = releases.find(({ major }) => String(major) === word)
    if (found !== undefined) return found
    throw new Error(`Node ${word} is not one of ${releases.map(({ major }) => major).join(', ')}`)
  })
}

/** The package that brings a release to a platform, and its checksum. Throws where none is known. */
export function tarballOf({ version, sha256 }: Release, platform: string): { spec: string; sha256: string } {
  const sum = sha256[platform]
  if (sum === undefined) throw new Error(`no package with Node ${version} is known for ${platform}`)
  return { spec: `node-${platform}@${version}`, sha256: sum }
}
