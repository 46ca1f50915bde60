import { readdirSync } from 'node:fs'

/** Files that take a while. They begin first, in processes of their own: alone at the end they would be waited for. */
const long = new RegExp(
  `^(?:${[
    'bench/(?:claims|scenarios)',
    'board/(?:large|page)',
    'cli/verify',
    'connect/embedded',
    'coordinators/storm/storm',
    'docs/docs(?:-servers)?',
    'engines/(?:private-server|reaper)',
    'examples/examples',
    'fuzz/fuzz',
    'leases/lease',
    'newcomer',
    'race/seed',
    'sabotage',
    'coordinators/shared-lock',
    '(?:coordinators/semaphore-|semaphores/)processes',
    'site/site',
    'stories/stories',
    'versions/lowest',
  ].join('|')})$`,
)

/** Files that take a while too, and share processes: each loads nearly everything. They begin before the others that do. */
const early = new RegExp(
  `^(?:${[
    '.*laws[^/]*',
    'conformance/.*',
    'adapters/sql-text',
    'claims/drain',
    'connect/scratch',
    'faults/bad-input',
    '(?:faults|orms)/races',
    'tables/meaning',
  ].join('|')})$`,
)

/** Files and folders whose deeds would reach other files in the same process, or which those of others would reach. */
export const alone: Readonly<Record<string, readonly string[]>> = {
  // A timer that was started meanwhile never fires, whoever waits for it later.
  'stops the clock': [
    'claims/heartbeat',
    'core/needs',
    'leases/lease',
    'leases/lease-patience',
    'leases/lease-renewals',
    'leases/lease-validity',
    'leases/statements',
    'session-locks/handle',
    'sqlite-contention/lane',
  ],
  "moves the library's clock, which never goes back": [
    'bodies/cancel-by-timeout',
    'bodies/own-time',
    'testing/',
  ],
  'puts something on a driver or an ORM, and leaves it there': ['docs/taps', 'orms/sequelize'],
  'hears or counts whatever happens in the process': [
    'bodies/broken-connection',
    'bodies/ended-at-login',
    'bodies/mongodb-driver',
    'bodies/one-signal',
    'bodies/pool-patience',
    'claims/listen',
    'claims/work',
    'coordinators/redis',
    'deadlocks/autopsy',
    'events/',
    'nodes/nodes',
    'opentelemetry/',
    'orms/lost',
    'session-locks/loss',
    'tables/rules',
    'watch/',
  ],
  'has another version of a driver under its name': ['versions/lowest-mssql'],
  'loads the library anew': ['core/first-calls'],
  'collects garbage, and looks at what is left': ['core/scope'],
}

const aloneNames = Object.values(alone).flat()

/** The test files, as in `test/leases/lease.test.ts`. */
export interface TestFiles {
  readonly long: readonly string[]
  readonly alone: readonly string[]
  /** These share processes as well, and begin before the others. */
  readonly early: readonly string[]
  /** Each runs in the process of the file before it: to load every driver and ORM anew costs more than most files. */
  readonly shared: readonly string[]
}

export function testFiles(): TestFiles {
  const entries = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const names = entries.flatMap((path) => /^(.+)\.test\.ts$/.exec(path.replaceAll('\\', '/'))?.[1] ?? [])
  const pathsOf = (share: keyof TestFiles): readonly string[] =>
    names.filter((name) => shareOf(name) === share).map((name) => `test/${name}.test.ts`)
  return {
    long: pathsOf('long'),
    alone: pathsOf('alone'),
    early: pathsOf('early'),
    shared: pathsOf('shared'),
  }
}

function shareOf(name: string): keyof TestFiles {
  if (long.test(name)) return 'long'
  const isAlone = aloneNames.some((one) => (one.endsWith('/') ? name.startsWith(one) : name === one))
  if (isAlone) return 'alone'
  return early.test(name) ? 'early' : 'shared'
}
