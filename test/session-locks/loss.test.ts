import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'

import { LockLostError, LockNotAvailableError } from '../../src/core/errors.ts'
import type { Session } from '../../src/core/session.ts'
import { until } from '../engines/use.ts'
import { caught, describeSessionLocks, partyOn, type Party } from './stage.ts'
import { startCuttingProxy } from '../entries/cutting-proxy.ts'

function withoutOnLost({ onLost: _, ...session }: Session): Session {
  return session
}

describeSessionLocks((stage) => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  const kill = async (id: string): Promise<void> => {
    const outsider = await stage.engine.open()
    await stage.engine.kill({ ...outsider, id }).finally(() => outsider.close())
  }
  const killHolder = async (): Promise<void> => {
    const { sessions } = await stage.onServer()
    for (const id of sessions) await kill(id)
  }
  const unlockBehind = (session: Session | undefined): Promise<unknown> | undefined =>
    session?.run({
      sql: stage.name === 'postgres' ? 'select pg_advisory_unlock_all()' : 'select release_all_locks()',
      params: [],
    })

  // so seldom that only the driver can be the one who tells
  const seldom = { limits: { heartbeatMs: 600_000 } }

  test('a killed connection aborts the signal of every lock on it, and a waiter elsewhere gets them', async () => {
    const [a, b] = [stage.party(seldom), stage.party()]
    const [one, two] = [await a.acquire(stage.key(1)), await a.acquire(stage.key(2))]
    expect([one.signal.aborted, two.signal.aborted]).toEqual([false, false])
    await killHolder()
    await until(() => one.signal.aborted && two.signal.aborted, 'both signals')
    expect(one.signal.reason).toBeInstanceOf(LockLostError)
    expect(one.signal.reason).toMatchObject({ cause: expect.any(Error) })
    expect(await caught(one.release())).toBeInstanceOf(LockLostError)
    expect(await caught(one.release())).toBeInstanceOf(LockLostError)
    await (await b.acquire(stage.key(1), { wait: 'nowait' })).release()
    // and the same locks go on with another connection
    await (await a.acquire(stage.key(2), { wait: 'nowait' })).release()
  })

  test('a waiter elsewhere gets the lock at once when the holder is killed', async () => {
    const [a, b] = [stage.party(seldom), stage.party()]
    const held = await a.acquire(stage.key())
    const { sessions } = await stage.onServer()
    const waiting = b.acquire(stage.key())
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    await kill(sessions[0] ?? '')
    await (await waiting).release()
    await until(() => held.signal.aborted, 'the signal')
  })

  test('a killed waiter is told, and holds nothing', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const held = await a.acquire(stage.key())
    const { sessions: holders } = await stage.onServer()
    const waiting = caught(b.acquire(stage.key()))
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    for (const id of (await stage.onServer()).sessions) if (!holders.includes(id)) await kill(id)
    expect(await waiting).toBeInstanceOf(Error)
    expect(held.signal.aborted).toBe(false)
    // the connection is cut before the server has taken its wait back, and would hand it the lock for a moment
    await until(async () => (await stage.onServer()).waiting === 0, 'no waiter on the server')
    await held.release()
    await (await b.acquire(stage.key(), { wait: 'nowait' })).release()
  })

  test('where the driver tells nobody, the heartbeat finds out', async () => {
    const a = stage.party({ change: withoutOnLost, limits: { heartbeatMs: 100 } })
    const held = await a.acquire(stage.key())
    await killHolder()
    await until(() => held.signal.aborted, 'the signal')
    expect(held.signal.reason).toBeInstanceOf(LockLostError)
  })

  test('a heartbeat that is answered loses nothing', async () => {
    const beats: string[] = []
    const listening = (session: Session): Session => ({
      ...session,
      run: (statement) => {
        if ('sql' in statement && statement.sql === 'SELECT 1') beats.push(statement.sql)
        return session.run(statement)
      },
    })
    const a = stage.party({ change: listening, limits: { heartbeatMs: 2000 } })
    const held = await a.acquire(stage.key())
    await until(() => beats.length > 0, 'a heartbeat')
    await held.release() // which stands in line behind it
    expect(held.signal.aborted).toBe(false)
  })

  const silent = async (limits: {
    heartbeatMs?: number
    releaseWithinMs?: number
  }): Promise<[Party, () => void]> => {
    const proxy = await startCuttingProxy(stage.engine.server.url)
    const party = partyOn(stage.name, proxy.url, { limits })
    closing.push(proxy.close)
    return [party, proxy.stall]
  }

  test('a network that falls silent is a lost lock', async () => {
    const [a, stall] = await silent({ heartbeatMs: 100 })
    const held = await a.acquire(stage.key())
    stall()
    await until(() => held.signal.aborted, 'the signal')
    await killHolder() // the server does not know yet
  })

  test('a release that is not answered ends in time, and takes the connection with it', async () => {
    const [a, stall] = await silent({ releaseWithinMs: 200 })
    const [one, two] = [await a.acquire(stage.key(1)), await a.acquire(stage.key(2))]
    stall()
    expect(await caught(one.release())).toBeInstanceOf(LockLostError)
    expect(two.signal.aborted).toBe(true)
    await killHolder()
  })

  test('a lock that the server does not know at the release was lost, and so were the others there', async () => {
    const a = stage.party()
    const [one, two] = [await a.acquire(stage.key(1)), await a.acquire(stage.key(2))]
    await unlockBehind(a.opened[0])
    expect(await caught(one.release())).toBeInstanceOf(LockLostError)
    expect(two.signal.reason).toBeInstanceOf(LockLostError)
    const warned = once(process, 'warning')
    await two[Symbol.asyncDispose]()
    expect(await warned).toMatchObject([
      { name: 'HoldfastWarning', message: expect.stringContaining('lost') },
    ])
    // negative control: a connection that still holds its lock is not ended
    await a.acquire(stage.key(3))
    expect(await caught(stage.party().acquire(stage.key(3), { wait: 'nowait' }))).toBeInstanceOf(
      LockNotAvailableError,
    )
  })

  test('who waits long for a lock of the same process is warned once', async () => {
    const a = stage.party({ limits: { warnAfterMs: 50 } })
    const warnings: Error[] = []
    const listener = (warning: Error): void => void warnings.push(warning)
    process.on('warning', listener)
    const held = await a.acquire(stage.key())
    const waiting = a.acquire(stage.key())
    await until(() => warnings.length > 0, 'the warning')
    await held.release()
    await (await waiting).release()
    process.off('warning', listener)
    expect(warnings).toMatchObject([
      {
        name: 'HoldfastWarning',
        message: expect.stringContaining('waited for by the process that holds it'),
      },
    ])
  })
})
