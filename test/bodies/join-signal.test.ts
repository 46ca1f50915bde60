import { expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeClients } from './client.ts'

describeClients((scene) => {
  test('a call that joins with a signal that has aborted does nothing', async () => {
    const { locks } = scene.connect(1)
    const enough = new Error('enough')
    const joining = { nested: 'join', signal: AbortSignal.abort(enough) } as const
    let isRun = false
    const inner = async (): Promise<void> => void (isRun = true)
    await locks.transaction(async () => {
      expect(await caught(locks.withLock('join-signal', inner, joining))).toBe(enough)
      expect(await caught(locks.transaction(inner, joining))).toBe(enough)
    })
    expect(isRun).toBe(false)
  })

  test('a callback of retries that never ends does not outlast the signal', async () => {
    const { locks } = scene.connect(1)
    const stop = new AbortController()
    const enough = new Error('enough')
    const lost = locks.transaction(
      () => Promise.reject(new RetryableTransactionError('deadlock', 'lost on purpose')),
      {
        signal: stop.signal,
        onRetry: () => {
          stop.abort(enough)
          return new Promise(() => {})
        },
      },
    )
    expect(await caught(lost)).toBe(enough)
  })
})
