import { expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeLeases, take } from './lease-stage.ts'

// where a statement is refused because another writes
describeLeases(
  (stage) => {
    test('a release that lost against another statement is repeated', async () => {
      let opened = 0
      const name = stage.fresh()
      const lease = await take(stage.process({ onOpen: () => (opened += 1) }), name, { renew: false })
      const writer = await stage.engine.open()
      await writer.begin('IMMEDIATE')
      const before = opened
      const releasing = caught(lease.release())
      const isRepeated = until(() => opened >= before + 2, 'a second try')
      await Promise.race([isRepeated, releasing])
      await writer.rollback()
      await writer.close()
      expect(await releasing).toBe('no error')
      expect((await stage.row(name))?.owner).toBeNull()
    })
  },
  ['sqlite'],
)
