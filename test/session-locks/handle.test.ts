import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { LockLostError } from '../../src/core/errors.ts'
import { createHandle, type Ending } from '../../src/locks/handle.ts'
import { startHeartbeat } from '../../src/locks/session-lock/holder-heartbeat.ts'
import { lineOn } from '../../src/locks/session-lock/holder-line.ts'
import { caught } from './stage.ts'

function endingOf(release: () => Promise<void>, releaseWithinMs = 5000): Ending & { abandoned: Error[] } {
  const abandoned: Error[] = []
  return {
    name: 'the lock',
    release,
    abandon: (why) => void abandoned.push(why),
    releaseWithinMs,
    abandoned,
  }
}

describe('a handle', () => {
  test('shows what it was given, and follows it', async () => {
    let fence = 1
    const handle = createHandle(
      {
        key: 'k',
        get fence() {
          return fence
        },
      },
      endingOf(async () => {}),
    )
    fence = 2
    expect(handle).toMatchObject({ key: 'k', fence: 2 })
    await handle.release() // what is dropped is warned of, at any later time
  })

  test('releases once, however often it is asked', async () => {
    let count = 0
    const handle = createHandle(
      {},
      endingOf(async () => {
        count += 1
      }),
    )
    await Promise.all([handle.release(), handle.release(), handle[Symbol.asyncDispose]()])
    await handle.release()
    expect(count).toBe(1)
  })

  test('tells everybody who asks of a release that failed', async () => {
    const lost = new LockLostError('for the test')
    const handle = createHandle(
      {},
      endingOf(() => Promise.reject(lost)),
    )
    expect(await caught(handle.release())).toBe(lost)
    expect(await caught(handle.release())).toBe(lost)
  })

  test('warns at disposal instead of throwing, and only of what nobody was told', async () => {
    const warnings: string[] = []
    const listener = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', listener)
    const failing = (): Promise<void> => Promise.reject(new LockLostError('for the test'))
    await createHandle({}, endingOf(failing))[Symbol.asyncDispose]()
    const told = createHandle({}, endingOf(failing))
    await caught(told.release())
    await told[Symbol.asyncDispose]()
    await new Promise(setImmediate)
    process.off('warning', listener)
    expect(warnings).toEqual(['the lock could not be released: LockLostError: for the test'])
  })

  test('is abandoned when its release does not end in time', async () => {
    const ending = endingOf(() => new Promise(() => {}), 50)
    const handle = createHandle({}, ending)
    const error = await caught(handle.release())
    expect(error).toBeInstanceOf(LockLostError)
    expect(ending.abandoned).toEqual([error])
  })

  test('is not abandoned when it was the program itself that was busy for so long', async () => {
    const { port1, port2 } = new MessageChannel()
    const ending = endingOf(async () => void (await once(port1, 'message')), 30)
    const released = createHandle({}, ending).release()
    const busyUntil = performance.now() + 100
    port2.postMessage('released') // the answer is there, and nobody could look
    while (performance.now() < busyUntil);
    await released
    port1.close()
    expect(ending.abandoned).toEqual([])
  })

  test('that is dropped without a release is reported by its name, and only that one', async () => {
    const child = fork(fileURLToPath(new URL('./dropped-handle.ts', import.meta.url)), [], {
      execArgv: ['--expose-gc', '--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const [report] = (await once(child, 'message')) as [unknown]
    expect(report).toEqual({
      kept: 'kept',
      released: 2,
      warnings: [expect.stringMatching(/^HoldfastWarning: the dropped one is still held/)],
    })
  })
})

const fakedTimers = ['Timeout', 'Interval', 'Immediate'].flatMap(
  (kind) => [`set${kind}`, `clear${kind}`] as ('setTimeout' | 'clearTimeout')[],
)

describe('a heartbeat', () => {
  afterEach(() => void vi.useRealTimers())

  /** What has failed after a while, when ten statements are asked for at once and each is answered after so long. */
  const failuresWith = async (answerMs: number): Promise<readonly string[]> => {
    vi.useFakeTimers({ toFake: [...fakedTimers] })
    const line = lineOn({ run: () => new Promise((resolve) => setTimeout(resolve, answerMs, [])) })
    const failures: string[] = []
    const stop = startHeartbeat(line, 100, ({ message }) => failures.push(message))
    for (let asked = 0; asked < 10; asked += 1) void line.run({ sql: 'SELECT 2', params: [] })
    await vi.advanceTimersByTimeAsync(1000)
    stop()
    return failures
  }

  test('that stands in line behind others is no sign of a silent connection', async () => {
    expect(await failuresWith(60)).toEqual([])
  })

  test('before a connection that answers nobody is', async () => {
    expect(await failuresWith(1_000_000)).toEqual(['the connection gave no answer for 100 ms'])
  })
})
