import { expect, test } from 'vitest'

import { registry, type DialectName } from '../../src/registry.ts'
import { describeEngines } from '../engines/use.ts'
import { send } from './contest.ts'

describeEngines((context) => {
  const { lease } = registry[context.name as DialectName]

  test('many can make the table at once, and whoever lost against another may simply try again', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => context.engine.open()))
    try {
      const replies = await Promise.all(sessions.map((session) => send(session, lease.schema)))
      expect(replies.map(({ answer }) => answer).filter((answer) => answer !== 'conflict')).toContain('none')
      const again = await Promise.all(sessions.map((session) => send(session, lease.schema)))
      expect(again.map(({ answer }) => answer)).toEqual(sessions.map(() => 'none'))
      const claims = sessions.map((session, index) => ({ session, name: 'hl:first', owner: `o${index}` }))
      const answers = await Promise.all(
        claims.map(({ session, ...claim }) => send(session, lease.acquire({ ...claim, ttlMs: 60_000 }))),
      )
      expect(answers.filter(({ answer }) => answer === 'granted')).toHaveLength(1)
    } finally {
      await Promise.all(sessions.map((session) => session.close()))
    }
  })
})
