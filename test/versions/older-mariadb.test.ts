import { describe, expect, test } from 'vitest'

import { openGround } from '../../src/conformance/ground.ts'
import { laws } from '../../src/conformance/laws.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import { lawTimeoutMs } from '../conformance/describe-laws.ts'
import { allAdaptersOf, subjectOf } from '../conformance/subjects.ts'
import { loadEngine } from '../engines/engine-list.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startMariadb } from '../engines/mariadb.ts'
import { downloadedMariadb } from '../engines/mariadb-programs.ts'

/** What `npm run verify:versions` has found broken there, and nowhere else. */
const found = laws.filter(({ id }) => ['C4', 'D3'].includes(id))

describe('on MariaDB 10.5', () => {
  const mariadb = useExtraServer(async () => startMariadb(await downloadedMariadb('10.5'), 'download'))

  for (const adapter of allAdaptersOf('mariadb')) {
    for (const law of found) {
      test(`${law.id} holds through ${adapter}: ${law.says}`, async ({ skip }) => {
        const { server } = mariadb(skip)
        const engine = await (await loadEngine('mariadb')).connect(server)
        const ground = await openGround(subjectOf('mariadb', adapter, engine.server.url))
        try {
          const { verdict, reason } = await runLaw(ground, law, { timeoutMs: lawTimeoutMs })
          expect(verdict, reason).toBe('holds')
        } finally {
          await ground.close()
          await engine.close()
        }
      })
    }
  }
})
