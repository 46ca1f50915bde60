import { afterEach, expect, test } from 'vitest'

import { moveForward } from '../../src/core/clock.ts'
import { LockTimeoutError, RetryableTransactionError } from '../../src/core/errors.ts'
import { until } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeClients } from './client.ts'

describeClients((scene) => {
  afterEach(() => until(async () => (await scene.engine.leftovers()).length === 0, 'nothing left'))

  test("after a retry the wait for a lock has its whole limit: the work's own time is none of it", async () => {
    const [client, rival] = [scene.connect(2), scene.connect(2)]
    const [taken, ending] = [gate(), gate()]
    const timeoutMs = 60_000
    let attempts = 0
    let held: Promise<unknown> | undefined
    const waiting = client.locks.withLock(
      'retried',
      async () => {
        attempts += 1
        if (attempts > 1) return
        moveForward(timeoutMs + 1) // the work takes longer than the lock may
        throw new RetryableTransactionError('deadlock', 'for the test')
      },
      {
        wait: { timeoutMs },
        // between the attempts another takes the lock, and gives it back once it is waited for
        onRetry: async () => {
          held = rival.locks.withLock('retried', async () => {
            taken.open()
            await ending.opened
          })
          await taken.opened
          void until(
            async () => (await scene.engine.leftovers()).some((line) => /wants|pending/i.test(line)),
            'a wait for the lock',
          ).finally(ending.open)
        },
      },
    )
    expect(await caught(waiting)).not.toBeInstanceOf(LockTimeoutError)
    expect(await caught(waiting)).toBe('no error')
    await held
    expect(attempts).toBe(2)
  })
})
