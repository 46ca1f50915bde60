import { expect, test } from 'vitest'

import { laws } from '../../src/conformance/laws.ts'
import { verifySubject } from '../../src/conformance/verify.ts'
import { describeEngines } from '../engines/use.ts'
import { describeOrmLaws } from './describe-orm-laws.ts'
import { forgeWay } from './forge-way.ts'
import { subjectThrough } from './way.ts'

describeOrmLaws(forgeWay)

describeEngines(
  (context) => {
    test('a law that needs no refused lock is held, although what it leaves is looked for without that lock', async () => {
      const rows = laws.filter(({ id }) => id === 'R1')
      const subject = subjectThrough(forgeWay, context.name, context.engine.server.url)
      const report = await verifySubject(subject, { laws: rows, seed: 1 })
      expect(report.results).toMatchObject([{ id: 'R1', verdict: 'holds' }])
    })
  },
  { only: ['mysql', 'mariadb'] },
)
