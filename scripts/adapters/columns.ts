import { laws } from '../../src/conformance/laws.ts'
import type { Feature } from '../../src/conformance/feature.ts'
import { calls } from './calls.ts'
import type { AdapterResult } from './results.ts'

/** What a run says of a feature. `no`: it is refused. */
export interface Said {
  readonly word: 'yes' | 'no' | 'not run' | 'broken'
  /** How many laws, or calls, of it held. */
  readonly held: number
  /** What is broken. */
  readonly ids: readonly string[]
}

/** A feature of the matrix of adapters. */
export interface Column {
  readonly title: string
  readonly saidBy: (run: AdapterResult) => Said
}

const byLaws: Readonly<Record<string, readonly Feature[]>> = {
  'transaction, retry': ['retry'],
  'row locks': ['row-exclusive', 'row-shared'],
  'SKIP LOCKED': ['skip-locked'],
  NOWAIT: ['nowait'],
  'lock timeout': ['lock-timeout'],
  'advisory locks': ['advisory'],
  'session locks': ['advisory-session'],
  'leases, fences': ['lease'],
  queues: ['claim'],
}

const byCalls: Readonly<Record<string, readonly string[]>> = {
  'versions, once': ['versions', 'once'],
  'singleton, leader': ['singleton', 'leader'],
  'inspect, attest': ['inspect', 'attest'],
}

export const columns: readonly Column[] = [
  ...Object.entries(byLaws).map(([title, features]) => columnOf(title, idsAbout(features))),
  ...Object.entries(byCalls).map(([title, ids]) => columnOf(title, ids)),
]

/** As in the matrix of a run: a law about several features decides only the first. */
function idsAbout(features: readonly Feature[]): readonly string[] {
  // that a refusal is told says nothing about having it
  return laws
    .filter((law) => features.includes(law.features[0]) && law.aboutRefusal !== true)
    .map(({ id }) => id)
}

function columnOf(title: string, ids: readonly string[]): Column {
  return {
    title,
    saidBy: ({ held, refused, broken }) => {
      const among = (some: readonly string[]): readonly string[] => ids.filter((id) => some.includes(id))
      const counts = { held: among(held).length, ids: among(broken) }
      if (counts.ids.length > 0) return { word: 'broken', ...counts }
      if (counts.held > 0) return { word: 'yes', ...counts }
      return { word: among(refused).length > 0 ? 'no' : 'not run', ...counts }
    },
  }
}

/** Laws and calls of which a run says nothing. Throws where it speaks of some that there are no more. */
export function namesAgainst({ adapter, engine, ...run }: AdapterResult): readonly string[] {
  const known = [...laws, ...calls].map(({ id }) => id)
  const said = [...run.held, ...run.refused, ...run.notPromised, ...run.broken]
  const gone = said.filter((id) => !known.includes(id))
  if (gone.length > 0)
    throw new Error(
      `the run of ${adapter} on ${engine} has ${gone.join(', ')}, which there is no more: npm run verify:adapters`,
    )
  return known.filter((id) => !said.includes(id))
}
