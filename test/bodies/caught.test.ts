import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeBodies, note, onKysely, onMariadb, onMysql2, onPg, type Stage } from './stage.ts'

describe('work that catches an error', () => {
  describeBodies(specs, { only: [onPg, onMysql2, onMariadb, onKysely] })
  describe('of a deadlock', () => {
    const byDeadlock = [onMysql2, onMariadb, { ...onKysely, engines: ['mysql', 'mariadb'] }]
    describeBodies(deadlockSpecs, { only: byDeadlock })
  })
  describe('of a conflict, and lets the next one through', () => {
    describeBodies(consequenceSpecs, { only: [onPg, { ...onKysely, engines: ['postgres'] }] })
  })
})

function specs({ transaction, stored, ending }: Stage): void {
  test('which ended the transaction: what it sends next is refused, and nothing is stored', async () => {
    let refused: unknown
    const said = caught(
      transaction(
        async (send) => {
          await send(note(1))
          await caught(send(await ending(send)))
          refused = await caught(send(note(2)))
          await caught(send(note(3)))
        },
        { attempts: 1 },
      ),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(refused).toBeInstanceOf(Error)
    expect(await stored()).toEqual([])
  })

  test('which ended the transaction, and sends all the rest at once: none of it is stored', async () => {
    const said = caught(
      transaction(
        async (send) => {
          const fatal = await ending(send)
          await Promise.allSettled([send(note(1)), send(fatal), send(note(2)), send(note(3))])
        },
        { attempts: 1 },
      ),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([])
  })
}

/** After an error PostgreSQL answers every statement with another one, which says nothing of the first. */
function consequenceSpecs({ transaction, stored }: Stage): void {
  const conflict = "do $$ begin raise 'lost against another' using errcode = '40001'; end $$"

  test('or throws one of its own without a cause: is run again', async () => {
    let attempts = 0
    await transaction(async (send) => {
      attempts += 1
      await send(note(attempts))
      if (attempts > 1) return
      await caught(send(conflict))
      throw new Error('mine')
    })
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([2])
  })

  test('and goes back to a savepoint, and throws one of its own: is not run again', async () => {
    let attempts = 0
    const call = transaction(async (send) => {
      attempts += 1
      await send('savepoint mine')
      await caught(send(conflict))
      await send('rollback to savepoint mine')
      throw new Error('mine')
    })
    await expect(call).rejects.toThrow('mine')
    expect(attempts).toBe(1)
  })

  test('is run again, and each of its effects is stored once', async () => {
    let attempts = 0
    await transaction(async (send) => {
      attempts += 1
      if (attempts === 1) await caught(send(conflict))
      await send(note(1))
    })
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([1])
  })

  test('is not run again where a savepoint has undone the conflict', async () => {
    let attempts = 0
    const said = transaction(async (send) => {
      attempts += 1
      await send('savepoint here')
      await caught(send(conflict))
      await send('rollback to savepoint here')
      await caught(send('select no_such_column'))
      await send(note(1))
    })
    expect(classifyError(await caught(said))).toMatchObject({ kind: 'other' })
    expect(attempts).toBe(1)
    expect(await stored()).toEqual([])
  })
}

function deadlockSpecs({ transaction, stored, ending }: Stage): void {
  test('is run again, and each of its effects is stored once', async () => {
    let attempts = 0
    await transaction(async (send) => {
      attempts += 1
      await send(note(1))
      if (attempts === 1) await caught(send(await ending(send)))
      await send(note(2))
    })
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([1, 2])
  })

  test('goes on after one that left the transaction open', async () => {
    await transaction(async (send) => {
      await send(note(1))
      await caught(send(note(1)))
      await send(note(2))
      await caught(send(note(2)))
    })
    expect(await stored()).toEqual([1, 2])
  })

  test('is told the one that ended the transaction, not the first', async () => {
    const said = await caught(
      transaction(
        async (send) => {
          await send(note(1))
          await caught(send(note(1)))
          await caught(send(await ending(send)))
        },
        { attempts: 1 },
      ),
    )
    expect(classifyError(said)).toMatchObject({ kind: 'deadlock', retryable: true })
    expect(await stored()).toEqual([])
  })

  test('and throws one of its own without a cause: is run again', async () => {
    let attempts = 0
    const work = async (send: (text: string) => Promise<unknown>): Promise<void> => {
      attempts += 1
      await send(note(attempts))
      if (attempts > 1) return
      await caught(send(await ending(send)))
      throw new Error('mine')
    }
    await transaction(work, { backoff: { baseMs: 1 } })
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([2])
  })

  test('and throws one of its own: is told that one when no attempt is left', async () => {
    const call = transaction(
      async (send) => {
        await send(note(1))
        await caught(send(await ending(send)))
        throw new Error('mine')
      },
      { attempts: 1 },
    )
    await expect(call).rejects.toThrow('mine')
    expect(await stored()).toEqual([])
  })

  test('that left the transaction open, and throws one of its own: is not run again', async () => {
    let attempts = 0
    const call = transaction(async (send) => {
      attempts += 1
      await send(note(1))
      await caught(send(note(1)))
      throw new Error('mine')
    })
    await expect(call).rejects.toThrow('mine')
    expect(attempts).toBe(1)
    expect(await stored()).toEqual([])
  })
}
