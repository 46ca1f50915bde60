import { laws } from '../../src/conformance/laws.ts'
import type { DialectName } from '../../src/registry.ts'
import { describeLaws } from '../conformance/describe-laws.ts'
import type { OrmWay } from './way.ts'

/** Every law, through an ORM: its transactions are Holdfast's, and its statements are the application's. */
export function describeOrmLaws({ name, engines, connect }: OrmWay): void {
  describeLaws(laws, {
    engines,
    adaptersOf: () => [name],
    subjectOf: (engine, adapter, url) => ({
      title: `${engine} through ${adapter}`,
      adapter,
      dialects: [engine as DialectName],
      connect: (size) => connect(engine, url, size),
    }),
  })
}
