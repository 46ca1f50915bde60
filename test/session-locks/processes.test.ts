import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import { programOf } from '../engines/program.ts'
import { until } from '../engines/use.ts'
import { caught, describeSessionLocks } from './stage.ts'

describeSessionLocks((stage) => {
  const key = ['session-locks', 'worker']
  const start = async (how: string): Promise<ChildProcess> => {
    const worker = await programOf(new URL('./worker.ts', import.meta.url))
    const child = fork(worker, [stage.name, stage.engine.server.url, how], { execArgv: [] })
    await once(child, 'message')
    return child
  }
  const inSession = async (sql: string): Promise<unknown> => {
    const session = await stage.engine.open()
    return (await session.run({ sql, params: [] }).finally(() => session.close()))[0]
  }
  /** Both processes count. Gives what they should have counted, and what they did. */
  const countTogether = async (how: string): Promise<{ readonly done: number; readonly seen: number }> => {
    await inSession('update counter set n = 0 where id = 1')
    const children = await Promise.all([start(how), start(how)])
    const counts = children.map((child) => once(child, 'message'))
    for (const child of children) child.send('go')
    const done = (await Promise.all(counts)).reduce((sum, [count]) => sum + Number(count), 0)
    const row = (await inSession('select n from counter where id = 1')) as { n: unknown }
    return { done, seen: Number(row.n) }
  }
  beforeAll(async () => {
    const session = await stage.engine.open()
    for (const statement of stage.kind.sample.setUp) await session.run(statement)
    await session.close()
  })

  test('two processes that count in two steps lose nothing under the lock', async () => {
    const { done, seen } = await countTogether('count')
    expect(seen).toBe(done)
  })

  test('negative control: without the lock they do', async () => {
    const { done, seen } = await countTogether('count without')
    expect(seen).toBeLessThan(done)
  })

  test('a process that is killed lets its lock go to a waiter', async () => {
    const child = await start('hold')
    const held = once(child, 'message')
    child.send('go')
    expect(await held).toEqual(['held', undefined])
    const a = stage.party()
    expect(await caught(a.acquire(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    const waiting = a.acquire(key)
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    child.kill('SIGKILL')
    await (await waiting).release()
  })
})
