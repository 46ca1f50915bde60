import { readdirSync } from 'node:fs'

/**
 * Which process a test file gets.
 *
 * - `long`: its own. It takes a while and begins first, because alone at the end it would be waited for.
 * - `alone`: its own, see {@link alone}.
 * - `shared`: the one of the file before it. To load every driver and ORM anew costs more than most files.
 */
export type Share = 'long' | 'shared' | 'alone'

const long =
  /^(?:.*laws[^/]*|(?:bench|conformance|site)\/.*|docs\/docs(?:-servers)?|fuzz\/fuzz|newcomer|versions\/lowest)$/

/** Files and folders whose deeds would reach other files in the same process, or which those of others would reach. */
export const alone: Readonly<Record<string, readonly string[]>> = {
  // A package that is loaded meanwhile makes Node hand the stopped timers to every module, and there they stay.
  'stops the clock': [
    'claims/heartbeat',
    'leases/lease',
    'leases/lease-renewals',
    'leases/lease-validity',
    'leases/statements',
    'session-locks/handle',
    'sqlite-contention/lane',
  ],
  "moves the library's clock, which never goes back": ['bodies/own-time', 'testing/'],
  'puts something on a driver or an ORM, and leaves it there': ['docs/taps', 'orms/sequelize'],
  'hears or counts whatever happens in the process': [
    'bodies/broken-connection',
    'bodies/mongodb-driver',
    'bodies/pool-patience',
    'claims/listen',
    'claims/work',
    'deadlocks/autopsy',
    'events/',
    'nodes/nodes',
    'orms/lost',
    'session-locks/loss',
  ],
  'collects garbage, and looks at what is left': ['core/scope'],
}

const ending = '.test.ts'
const aloneNames = Object.values(alone).flat()

/** All test files, by the process that they get, as in `test/leases/lease.test.ts`. */
export function testFiles(): Readonly<Record<Share, readonly string[]>> {
  const entries = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const files = entries.map((entry) => entry.replaceAll('\\', '/')).filter((path) => path.endsWith(ending))
  const of = (share: Share): string[] =>
    files.filter((path) => shareOf(path.slice(0, -ending.length)) === share).map((path) => `test/${path}`)
  return { long: of('long'), shared: of('shared'), alone: of('alone') }
}

function shareOf(name: string): Share {
  if (long.test(name)) return 'long'
  const isAlone = aloneNames.some((one) => (one.endsWith('/') ? name.startsWith(one) : name === one))
  return isAlone ? 'alone' : 'shared'
}
