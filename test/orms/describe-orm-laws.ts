import type { Law } from '../../src/conformance/law.ts'
import { laws } from '../../src/conformance/laws.ts'
import { describeLaws } from '../conformance/describe-laws.ts'
import { subjectThrough, type OrmWay } from './way.ts'

/** Every law, or some, through an ORM: its transactions are Holdfast's, and its statements are the application's. */
export function describeOrmLaws(way: OrmWay, some: readonly Law[] = laws): void {
  describeLaws(some, {
    engines: way.engines,
    adaptersOf: () => [way.name],
    subjectOf: (engine, _, url) => subjectThrough(way, engine, url),
  })
}
