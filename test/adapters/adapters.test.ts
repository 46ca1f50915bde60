import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import type { Session } from '../../src/core/session.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { provocations } from './provoke.ts'
import { subjects, type Connected, type Subject } from './subject.ts'

for (const subject of subjects) {
  describe(subject.title, () => {
    describeEngines((context) => specs(subject, context), { only: subject.engines })
  })
}

function specs(subject: Subject, context: EngineContext): void {
  const provocation = provocations[context.name]
  let connected: Connected
  beforeAll(async () => {
    connected = await subject.connect(context.engine.server.url)
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    for (const statement of provocation?.setUp ?? []) await session.run(statement)
    await session.close()
  })
  afterAll(() => connected.close())

  const open = (): Promise<Session> => connected.sessions.open()
  const increment = (session: Session): Promise<unknown> => session.run(context.kind.sample.increment)
  /** What a connection that does not belong to the adapter sees. */
  const seenFromOutside = async (): Promise<unknown> => {
    const outsider = await context.engine.open()
    const [row] = await outsider.run(context.kind.sample.read).finally(() => outsider.close())
    return row?.n
  }
  const nothingLeft = (): Promise<void> =>
    until(async () => (await context.engine.leftovers()).length === 0, 'an engine on which nothing is left')

  test('rows come as objects, one for each row', async () => {
    const session = await open()
    const rows = await session.run(context.kind.sample.read)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toHaveProperty('n')
    await session.release()
  })

  test('what a transaction does is seen by others when it is committed, and not before', async () => {
    const before = Number(await seenFromOutside())
    const session = await open()
    await session.begin()
    await increment(session)
    expect(await seenFromOutside()).toBe(before)
    await session.commit()
    expect(await seenFromOutside()).toBe(before + 1)
    await session.release()
  })

  test('what a transaction did is undone by a rollback', async () => {
    const before = await seenFromOutside()
    const session = await open()
    await session.begin()
    await increment(session)
    await session.rollback()
    expect(await seenFromOutside()).toBe(before)
    await session.release()
  })

  test('a released connection carries no transaction to its next user', async () => {
    for (let round = 0; round < 3; round += 1) {
      const session = await open()
      await session.begin()
      await increment(session)
      await (round === 1 ? session.rollback() : session.commit())
      await session.release()
      await nothingLeft()
    }
  })

  test('a session can begin one transaction after another', async () => {
    const before = Number(await seenFromOutside())
    const session = await open()
    for (let round = 0; round < 2; round += 1) {
      await session.begin()
      await increment(session)
      await session.commit()
    }
    await session.release()
    expect(await seenFromOutside()).toBe(before + 2)
  })

  test('a destroyed session leaves nothing behind, and the next one works', async () => {
    const before = Number(await seenFromOutside())
    const session = await open()
    await session.begin()
    await increment(session)
    await session.destroy(new Error('for the test'))
    await nothingLeft()
    expect(await seenFromOutside()).toBe(before)

    const next = await open()
    await next.begin()
    await increment(next)
    await next.commit()
    await next.release()
    expect(await seenFromOutside()).toBe(before + 1)
  })

  test('COMMIT of a transaction that the database has ended is an error, and stores nothing', async () => {
    const before = Number(await seenFromOutside())
    const session = await open()
    await session.begin()
    await increment(session)
    const caught: unknown = await provocation?.abort(session, context.engine).catch((error: unknown) => error)
    expect(caught).toBeInstanceOf(Error)
    await expect(session.commit()).rejects.toThrow(/nothing is stored|no transaction is active/)
    await session.rollback()
    expect(await seenFromOutside()).toBe(before)

    await session.begin()
    await increment(session)
    await session.commit()
    await session.release()
    expect(await seenFromOutside()).toBe(before + 1)
  })

  test.skipIf(provocation?.stumble === undefined)(
    'COMMIT after a caught error that left the transaction open stores it',
    async () => {
      const before = Number(await seenFromOutside())
      const session = await open()
      await session.begin()
      await increment(session)
      await expect(provocation?.stumble?.(session)).rejects.toThrow()
      await session.commit()
      await session.release()
      expect(await seenFromOutside()).toBe(before + 1)
    },
  )

  test('a rollback without a transaction changes nothing', async () => {
    const session = await open()
    await session.rollback()
    await session.release()
  })

  test('a transaction that the database cannot give is refused, and none is begun', async () => {
    const session = await open()
    // @ts-expect-error no such level
    await expect(session.begin({ isolation: 'chaos' })).rejects.toThrow(LockUsageError)
    // @ts-expect-error no such access
    await expect(session.begin({ access: 'none; drop table counter' })).rejects.toThrow(LockUsageError)
    await expect(session.begin({ mode: 'immediate; drop table counter' })).rejects.toThrow(LockUsageError)
    await nothingLeft()
    await session.begin()
    await session.rollback()
    await session.release()
  })

  test('a statement for another kind of database is refused', async () => {
    const session = await open()
    const foreign =
      'sql' in context.kind.sample.read ? { command: { ping: 1 } } : { sql: 'select 1', params: [] }
    await expect(session.run(foreign)).rejects.toThrow(LockUsageError)
    await session.release()
  })
}
