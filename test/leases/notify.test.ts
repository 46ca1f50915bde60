import pg from 'pg'
import { expect, test } from 'vitest'

import { describeEngines, until } from '../engines/use.ts'
import { contests } from './contest.ts'

describeEngines(
  (context) => {
    const contest = contests(context)

    test('a release tells those who listen which lease it was, and one that frees nothing tells nobody', async () => {
      const subject = await contest()
      const heard: string[] = []
      const listener = new pg.Client({ connectionString: context.engine.server.url })
      await listener.connect()
      try {
        listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
        await listener.query(`LISTEN ${subject.lease.topic}`)
        const stale = await subject.granted()
        await subject.row.expire()
        const held = await subject.granted()
        expect(await subject.release(stale)).toBe('not-held')
        expect(await subject.renew(held)).toBe('granted')
        expect(await subject.release(held)).toBe('released')
        await until(() => heard.length > 0, 'the listener hears of the release')
        expect(heard).toEqual([subject.name])
      } finally {
        await listener.end()
      }
    })
  },
  { only: ['postgres'] },
)
