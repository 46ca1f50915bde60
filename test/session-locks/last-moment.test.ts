import { expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import { canonicalKey } from '../../src/core/key.ts'
import type { Session } from '../../src/core/session.ts'
import { steps } from '../adapters/delayed-answers.ts'
import { until } from '../engines/use.ts'
import { caught, describeSessionLocks } from './stage.ts'

const takes = /advisory_lock|get_lock/i

/** The driver tells that the connection has ended, so many steps after the server has granted a lock. */
function endingAfterGrant(count: number): (session: Session) => Session {
  return (session) => {
    const listeners = new Set<(why: Error) => void>()
    return {
      ...session,
      onLost: (tell) => {
        listeners.add(tell)
        return () => void listeners.delete(tell)
      },
      run: async (statement) => {
        const rows = await session.run(statement)
        if ('sql' in statement && takes.test(statement.sql))
          void steps(count).then(() => listeners.forEach((tell) => tell(new Error('it has ended'))))
        return rows
      },
    }
  }
}

/** The server's own error for a wait that took too long, at the moment at which the lock was granted. */
const lateAnswers: Readonly<Record<string, object>> = {
  postgres: { code: '55P03', routine: 'ProcessInterrupts' },
  mysql: { errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT', sqlState: 'HY000' },
  mariadb: { errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT', sqlState: 'HY000' },
}

describeSessionLocks((stage) => {
  test('a lock that was granted on a connection that has ended meanwhile is never held', async () => {
    for (let count = 0; count < 30; count += 1) {
      const a = stage.party({ change: endingAfterGrant(count) })
      const held = await a.acquire(stage.key()).catch((error: unknown) => error)
      await until(async () => (await stage.onServer()).held === 0, 'a server without the lock')
      if (held instanceof Error) continue
      expect(held, `after ${count} steps`).toMatchObject({ signal: { aborted: true } })
    }
  })

  test('a lock whose grant met the end of the wait is given back, with its connection', async () => {
    let answer: object | undefined
    const a = stage.party({
      max: 1,
      change: (session) => ({
        ...session,
        run: async (statement) => {
          const rows = await session.run(statement)
          if ('sql' in statement && takes.test(statement.sql) && answer !== undefined)
            throw Object.assign(new Error('for the test'), answer)
          return rows
        },
      }),
    })
    const held = await stage.party().acquire(stage.key())
    const waiting = caught(a.acquire(stage.key(), { wait: { timeoutMs: 60_000 } }))
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    answer = lateAnswers[stage.name]
    await held.release()
    expect(await waiting).toBeInstanceOf(LockTimeoutError)
    expect(await stage.onServer()).toMatchObject({ held: 0 })
    answer = undefined
    await (await a.acquire(stage.key(), { wait: 'nowait' })).release()
  })

  test('a connection that has waited for its lock is asked whether it is alive, as the others are', async () => {
    let beats = 0
    const b = stage.party({
      limits: { heartbeatMs: 100 },
      change: (session) => ({
        ...session,
        run: (statement) => {
          if ('sql' in statement && statement.sql === 'SELECT 1') beats += 1
          return session.run(statement)
        },
      }),
    })
    const held = await stage.party().acquire(stage.key())
    const waiting = b.acquire(stage.key())
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    await held.release()
    await waiting
    const before = beats
    // one: whether it is answered in so short a time is another question
    await until(() => beats > before, 'a heartbeat')
  })

  test.runIf(stage.name === 'postgres')(
    'a number of its own and the tuple that has the same number are one lock',
    async () => {
      const raw = { raw: 'int64', value: canonicalKey(stage.key()).int64 } as const
      for (const [first, second] of [
        [raw, stage.key()],
        [stage.key(), raw],
      ] as const) {
        const a = stage.party()
        const held = await a.acquire(first)
        expect(await caught(a.acquire(second, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
        await held.release()
      }
    },
  )
})
