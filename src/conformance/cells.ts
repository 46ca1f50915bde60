import { isCategory } from '../core/category.ts'
import type { Support } from '../core/support.ts'
import { features, type Feature } from './feature.ts'
import type { Facts } from './facts.ts'
import type { LawResult, MatrixCell } from './report.ts'

/** One column of the matrix: what the dialect declares for each feature, and what the laws say to it. */
export function cellsOf(facts: Facts, results: readonly LawResult[]): readonly MatrixCell[] {
  return features.map((feature) => cellOf(feature, declaredSupport(feature, facts), results))
}

function cellOf(feature: Feature, declared: Support, results: readonly LawResult[]): MatrixCell {
  // a law about several features decides only the first: the others have laws of their own
  const about = results.filter((result) => result.features[0] === feature)
  const count = (verdict: LawResult['verdict']): number =>
    about.filter((result) => result.verdict === verdict).length
  const numbers = { held: count('holds'), broken: count('broken') }
  const broken = about.find(({ verdict }) => verdict === 'broken')
  const refused = about.find(({ verdict }) => verdict === 'refused')
  const cell = (state: MatrixCell['state'], note: string | undefined): MatrixCell => ({
    feature,
    state,
    ...(note !== undefined && { note }),
    ...numbers,
  })
  if (broken !== undefined) return cell('broken', `${broken.id}: ${broken.reason}`)
  if (declared.level === 'unsupported') return cell('unsupported', declared.reason)
  if (refused !== undefined && numbers.held === 0) return cell('refused', refused.reason)
  if (numbers.held === 0) return cell('untested', undefined)
  return cell(declared.level, declared.note)
}

/** What the library builds on locks is there on every engine; a lock of a connection is a lease where there is none. */
function declaredSupport(feature: Feature, { support, dialect }: Facts): Support {
  if (isCategory(feature)) return support(feature)
  if (feature === 'advisory-session' && dialect.named.keptBy === 'lease') {
    return { level: 'emulated', granularity: 'name', note: 'kept as a lease' }
  }
  return { level: 'native', granularity: 'name' }
}
