import { describe, expect, test } from 'vitest'

import { watchStandstill } from '../../src/conformance/awake.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeBodies, note, onKysely, onMariadb, onMysql2, onPg, type Stage } from './stage.ts'

describe('a statement that the work does not wait for', () => {
  describeBodies(specs, { only: [onPg, onMysql2, onMariadb, onKysely] })
})

function specs({ transaction, stored, ending }: Stage): void {
  test('is stored with the rest', async () => {
    await transaction(async (send) => {
      void send(note(1))
      void send(note(2))
      void send(note(3))
    })
    expect(await stored()).toEqual([1, 2, 3])
  })

  test('fails the transaction when it ends it, although its own error was caught', async () => {
    const said = caught(
      transaction(
        async (send) => {
          await send(note(1))
          const fatal = await ending(send)
          send(fatal).catch(() => {})
        },
        { attempts: 1 },
      ),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(await said).toMatchObject({ cause: expect.any(Error) as unknown })
    expect(await stored()).toEqual([])
  })

  test('is not stored on its own when the one before it has ended the transaction', async () => {
    const errors: unknown[] = []
    const stoodStill = watchStandstill()
    const said = caught(
      transaction(
        async (send) => {
          const fatal = await ending(send)
          for (const text of [fatal, note(1), note(2)])
            send(text).catch((error: unknown) => errors.push(error))
        },
        { attempts: 1 },
      ),
    )
    expect(await said).toBeInstanceOf(Error)
    // nobody is waited for for ever: who stood still is told of them after the transaction
    if (!stoodStill()) expect(errors).toHaveLength(3)
    expect(await stored()).toEqual([])
  })

  test('fails the transaction when it fails', async () => {
    const said = caught(
      transaction(
        async (send) => {
          await send(note(1))
          void send(note(2))
          send(note(1)).catch(() => {})
        },
        { attempts: 1 },
      ),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([])
  })

  test('is run again with all the work when it lost against another', async () => {
    let attempts = 0
    await transaction(
      async (send) => {
        attempts += 1
        await send(note(attempts))
        if (attempts === 1) send(await ending(send)).catch(() => {})
      },
      { alsoRetry: ['other', 'unique-violation'], backoff: { baseMs: 1 } },
    )
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([2])
  })
}
