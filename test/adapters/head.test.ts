import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { subjects, type Connected, type Subject } from './subject.ts'

// Kysely has a way of its own to begin.
for (const subject of subjects.filter(({ title }) => !title.startsWith('kysely'))) {
  describe(subject.title, () => {
    describeEngines((context) => specs(subject, context), { only: subject.engines })
  })
}

const one = { sql: 'select 1 as a', params: [] }
const two = { sql: 'select 2 as b', params: [] }
const wrong = { sql: 'no statement', params: [] }

function specs(subject: Subject, context: EngineContext): void {
  let connected: Connected
  beforeAll(async () => {
    connected = await subject.connect(context.engine.server.url)
  })
  afterAll(() => connected.close())
  const nothingLeft = (): Promise<void> =>
    until(async () => (await context.engine.leftovers()).length === 0, 'an engine on which nothing is left')
  const runsSql = context.name !== 'mongodb'

  test.runIf(runsSql)('what belongs to the start runs with it, and the last of it answers', async () => {
    const session = await connected.sessions.open()
    expect(await session.begin({ head: [one, two] })).toEqual([{ b: 2 }])
    await session.rollback()
    expect(await session.begin()).toEqual([])
    await session.commit()
    await session.release()
  })

  test.runIf(runsSql)('a start of which a part fails leaves no transaction behind', async () => {
    const session = await connected.sessions.open()
    await expect(session.begin({ head: [one, wrong] })).rejects.toThrow()
    await nothingLeft()
    await session.begin()
    await session.rollback()
    await session.release()
  })

  test('a start with what cannot go with it is refused, and none is begun', async () => {
    const session = await connected.sessions.open()
    const head = [runsSql ? { sql: 'select ? as a', params: [1] } : one]
    await expect(session.begin({ head })).rejects.toMatchObject({ name: 'LockUsageError', field: 'head' })
    await nothingLeft()
    await session.release()
  })
}
