import { expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/forge.ts'
import { describeEngines } from '../engines/use.ts'
import { describeOrms } from './describe-orms.ts'
import { openForge } from './forge.ts'

/* Code around Prisma, and around clients of its kind, looks for P2034; everybody else is told in Holdfast's own word. */

const lose = (): Promise<never> => {
  throw new RetryableTransactionError('deadlock', 'lost on purpose')
}

describeOrms((context) => {
  const code = /prisma/i.test(context.orm.name) ? 'P2034' : 'TX_RETRYABLE'
  test(`a transaction that lost has the code ${code}`, async () => {
    const call = context.app.locks.transaction(lose, { attempts: 2 })
    await expect(call).rejects.toMatchObject({ name: 'RetryableTransactionError', code, isRetryable: true })
  })
})

describeEngines(
  (context) => {
    test('a transaction that lost has the code P2034 through holdfast/forge', async () => {
      const client = openForge(context.name, context.engine.server.url)
      try {
        const locks = createLocks(client, { dialect: context.name as 'postgres' })
        await expect(locks.transaction(lose, { attempts: 2 })).rejects.toMatchObject({ code: 'P2034' })
        await expect(locks.withLock('a', lose, { attempts: 1 })).rejects.toMatchObject({ code: 'P2034' })
      } finally {
        await client.$disconnect()
      }
    })
  },
  { only: ['postgres', 'sqlite'] },
)
