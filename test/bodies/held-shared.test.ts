import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeClients } from './client.ts'

describeClients((scene) => {
  test('a lock that is held as shared is never joined as exclusive', async () => {
    const { locks } = scene.connect(2)
    const joining = { mode: 'exclusive', reentry: 'join' } as const
    await locks.withLock(
      'shared',
      async (tx, held) => {
        // where sharing is not known, it is held as exclusive, and may be joined as that
        const isShared = held.receipt.granted === 'shared'
        const outcomes = [
          await caught(locks.acquire('shared', joining).then((handle) => handle.release())),
          await caught(locks.lock(tx, 'shared', joining)),
          await caught(locks.withLock('shared', async () => {}, { ...joining, nested: 'join' })),
          await caught(locks.tryLock('shared', async () => {}, { ...joining, nested: 'join' })),
        ]
        for (const outcome of outcomes) {
          if (!isShared) expect(outcome).toBe('no error')
          else expect(outcome).toMatchObject({ message: expect.stringMatching(/held as shared/) })
        }
        if (isShared) for (const outcome of outcomes) expect(outcome).toBeInstanceOf(LockUsageError)
      },
      { mode: 'shared' },
    )
  })
})
