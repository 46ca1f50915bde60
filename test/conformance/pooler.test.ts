import { expect, test } from 'vitest'

import { laws } from '../../src/conformance/laws.ts'
import { verifySubject } from '../../src/conformance/verify.ts'
import { openScratch } from '../../src/connect/scratch.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { describeEngines } from '../engines/use.ts'
import { lawTimeoutMs } from './describe-laws.ts'

describeEngines(
  (context) => {
    const pooler = useExtraServer(() => startPgBouncer(context.server, 'transaction'))

    test('behind PgBouncer in transaction mode only the locks of a connection are refused', async ({
      skip,
    }) => {
      const subject = await openScratch(pooler(skip).server.url)
      try {
        const { matrix, results, error } = await verifySubject(subject, {
          laws,
          seed: 1,
          timeoutMs: lawTimeoutMs,
        })
        expect(error).toBeUndefined()
        const broken = results.filter(({ verdict }) => verdict === 'broken')
        expect(broken.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([])
        const states = Object.fromEntries(matrix.map(({ feature, state }) => [feature, state]))
        expect(states).toEqual({
          'row-exclusive': 'native',
          'row-shared': 'native',
          advisory: 'native',
          'skip-locked': 'native',
          nowait: 'native',
          'lock-timeout': 'native',
          table: 'native',
          'advisory-session': 'refused',
          lease: 'native',
          claim: 'native',
          retry: 'native',
        })
      } finally {
        await subject.drop()
      }
    }, 600_000)
  },
  { only: ['postgres'] },
)
