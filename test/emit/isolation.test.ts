import { beforeEach, expect, test } from 'vitest'

import type { Plan } from '../../src/core/plan.ts'
import type { Isolation } from '../../src/core/request.ts'
import type { SqlStatement } from '../../src/core/statement.ts'
import { emit } from '../../src/emit.ts'
import type { DialectName } from '../../src/registry.ts'
import type { EngineContext } from '../engines/use.ts'
import { describeEngines, until } from '../engines/use.ts'
import { endLock, takeLock } from './run-plan.ts'

const sql = (text: string): SqlStatement => ({ sql: text, params: [] })

/** The levels that keep one view for the whole transaction, and how an engine is told to use them. */
const levels: Readonly<
  Record<string, readonly { readonly isolation: Isolation; readonly begin?: string }[]>
> = {
  postgres: [
    { isolation: 'read committed', begin: 'ISOLATION LEVEL READ COMMITTED' },
    { isolation: 'repeatable read', begin: 'ISOLATION LEVEL REPEATABLE READ' },
    { isolation: 'serializable', begin: 'ISOLATION LEVEL SERIALIZABLE' },
  ],
  mysql: [{ isolation: 'repeatable read' }],
  mariadb: [{ isolation: 'repeatable read' }],
}

describeEngines(
  (context) => {
    beforeEach(async () => {
      const session = await context.engine.open()
      await session.run(sql('DROP TABLE IF EXISTS quota'))
      await session.run(sql('CREATE TABLE quota (used INTEGER NOT NULL)'))
      await session.run(sql('INSERT INTO quota VALUES (99)'))
      await session.close()
    })

    test.each(levels[context.name] ?? [])(
      'after the wait the body sees what the last holder committed, at $isolation',
      async (level) => {
        const { begin, isolation } = level
        const plan = emit(context.name as DialectName, 'advisory', { key: 'quota', isolation })
        expect(await usedAfterWaiting(context, begin === undefined ? plan : { ...plan, begin })).toBe(100)
      },
    )

    if (context.name === 'postgres') {
      test('taken inside the transaction, it would see what was there before, at repeatable read', async () => {
        const plan = emit('postgres', 'advisory', { key: 'quota' })
        expect(await usedAfterWaiting(context, { ...plan, begin: 'ISOLATION LEVEL REPEATABLE READ' })).toBe(
          99,
        )
      })
    }
  },
  { only: Object.keys(levels) },
)

/** One holder adds to the count while another waits for the lock; what the second reads once it has it. */
async function usedAfterWaiting({ engine }: EngineContext, plan: Plan): Promise<number> {
  const [holder, waiter] = [await engine.open(), await engine.open()]
  await takeLock(holder, plan)
  const waiting = takeLock(waiter, plan)
  await until(() => engine.isWaiting(waiter), 'the second waits for the lock')
  await holder.run(sql('UPDATE quota SET used = used + 1'))
  await endLock(holder, plan)
  await waiting
  const rows = await waiter.run(sql('SELECT used FROM quota'))
  await endLock(waiter, plan)
  await Promise.all([holder.close(), waiter.close()])
  return Number(rows[0]?.['used'])
}
