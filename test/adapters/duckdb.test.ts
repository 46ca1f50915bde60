import { beforeAll, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/duckdb/sessions.ts'
import { classifyError } from '../../src/classify.ts'
import type { Session } from '../../src/core/session.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describeEngines(specs, { only: ['duckdb'] })

function specs(context: EngineContext): void {
  let open: () => Promise<Session>
  beforeAll(async () => {
    const instance = await (await loadDuckdb()).DuckDBInstance.fromCache(context.engine.server.url)
    open = () => sessions(instance).open()
    const session = await open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.release()
  })

  const { read, increment } = {
    read: () => context.kind.sample.read,
    increment: () => context.kind.sample.increment,
  }

  test.each(['read uncommitted', 'read committed', 'repeatable read', 'snapshot'] as const)(
    '%s is given: a transaction sees what was there when it began',
    async (isolation) => {
      const [first, second] = [await open(), await open()]
      await first.begin({ isolation })
      const before = await first.run(read())
      await second.run(increment())
      expect(await first.run(read())).toEqual(before)
      await first.commit()
      expect(await first.run(read())).not.toEqual(before)
      await first.release()
      await second.release()
    },
  )

  test('serializable is refused: DuckDB does not give it', async () => {
    const session = await open()
    await expect(session.begin({ isolation: 'serializable' })).rejects.toMatchObject({ field: 'isolation' })
    await session.release()
  })

  test('a read-only transaction cannot write', async () => {
    const session = await open()
    await session.begin({ access: 'read-only' })
    await expect(session.run(increment())).rejects.toThrow('read-only')
    await session.rollback()
    await session.release()
  })

  test('COMMIT after a conflict is refused, and means what the conflict meant', async () => {
    const [winner, loser] = [await open(), await open()]
    const [before] = await winner.run(read())
    await winner.begin()
    await loser.begin()
    await winner.run(increment())
    await expect(loser.run(increment())).rejects.toThrow('Conflict')
    const refused: unknown = await loser.commit().catch((error: unknown) => error)
    expect(classifyError(refused)).toMatchObject({ kind: 'write-conflict', retryable: true })
    await loser.rollback()
    await winner.commit()
    expect(await loser.run(read())).toEqual([{ n: Number(before?.n) + 1 }])
    await winner.release()
    await loser.release()
  })

  test('a COMMIT that fails has ended the transaction, and the rollback after it is no error', async () => {
    const [first, second] = [await open(), await open()]
    const insert = { sql: 'insert into counter values (?, 0)', params: [77] }
    await first.begin()
    await second.begin()
    await first.run(insert)
    await second.run(insert)
    await first.commit()
    await expect(second.commit()).rejects.toThrow()
    await second.rollback()
    await second.begin()
    await second.rollback()
    await first.release()
    await second.release()
  })

  test('destroy ends a statement that still runs', async () => {
    const session = await open()
    const running = session
      .run({ sql: 'select count(*) from range(100000000000)', params: [] })
      .catch((error: unknown) => error)
    await session.destroy(new Error('for the test'))
    expect(await running).toBeInstanceOf(Error)
    await expect(session.run({ sql: 'select 1', params: [] })).rejects.toThrow('has ended')
  })

  test("a date means the same moment whatever the session's time zone is", async () => {
    const session = await open()
    await session.run({ sql: "set timezone = 'America/New_York'", params: [] })
    const moment = new Date('2024-07-01T00:00:00.123Z')
    const [row] = await session.run({
      sql: 'select cast(? as timestamptz) as zoned, cast(? as timestamp) as plain',
      params: [moment, moment],
    })
    expect(row).toEqual({ zoned: moment, plain: moment })
    await session.release()
  })

  test('a number beyond 64 bits arrives whole', async () => {
    const session = await open()
    expect(await session.run({ sql: 'select ? as big', params: [2n ** 100n] })).toEqual([{ big: 2n ** 100n }])
    await session.release()
  })
}
