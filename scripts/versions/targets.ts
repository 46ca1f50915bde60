import type { DialectName } from '../../src/registry.ts'
import { architectures as table, findArchitecture } from '../../test/engines/architecture.ts'
import { postgresBuild } from '../../test/engines/postgres-builds.ts'

/** A database that the laws are run on. */
export interface Target {
  /** What it is asked for by, as in `postgres-13`. */
  readonly id: string
  readonly engine: DialectName
  /** What the server's own version begins with. Absent where the version comes with the driver. */
  readonly version?: string
}

/** Where Holdfast's own tests run, by Node's names. */
export const architectures: readonly string[] = Object.keys(table)

const servers: readonly (readonly [DialectName, readonly string[]])[] = [
  ['postgres', ['13', '14', '15', '16', '17', '18']],
  ['mysql', ['9.7']],
  ['mariadb', ['10.5', '10.11', '11.8']],
  ['mongodb', ['7.0']],
]

/** Every version that can be had without containers on one machine or another. */
export const targets: readonly Target[] = [
  ...servers.flatMap(([engine, versions]) =>
    versions.map((version): Target => ({ id: `${engine}-${version}`, engine, version })),
  ),
  { id: 'sqlite', engine: 'sqlite' },
  { id: 'duckdb', engine: 'duckdb' },
]

/** The targets of these names, in the list's order; all when none is named. Throws for a name that is none. */
export function targetsNamed(names: readonly string[]): readonly Target[] {
  const unknown = names.filter((name) => !targets.some(({ id }) => id === name))
  if (unknown.length > 0) {
    const known = targets.map(({ id }) => id).join(', ')
    throw new Error(`no version is called ${unknown.join(', ')}; there are ${known}`)
  }
  return names.length === 0 ? targets : targets.filter(({ id }) => names.includes(id))
}

/** Why nobody can have a target on Linux with such a processor; undefined where that has to be tried. */
export function cannotBeHad({ engine, version }: Target, arch: string): string | undefined {
  const architecture = findArchitecture({ platform: 'linux', arch })
  if (engine !== 'postgres' || version === undefined || architecture === undefined) return undefined
  return postgresBuild(version, architecture) === undefined
    ? `there is no build of PostgreSQL ${version} for ${arch}, in npm or in Debian`
    : undefined
}
