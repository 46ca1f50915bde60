import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

import { expect, onTestFinished, test } from 'vitest'

import { awakeMs } from '../../src/conformance/awake.ts'
import { programOf } from '../engines/program.ts'
import { until } from '../engines/until.ts'

interface Clocks {
  readonly wallMs: number
  readonly awakeMs: number
}

async function ask(child: ChildProcess): Promise<Clocks> {
  const answer = once(child, 'message')
  child.send('look')
  const [clocks] = (await answer) as [Clocks]
  return clocks
}

// Windows cannot stop a process where it stands
test.skipIf(process.platform === 'win32')('the clock of the laws stands still with its process', async () => {
  const child = fork(await programOf(new URL('./awake-child.ts', import.meta.url)), { execArgv: [] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await until(async () => (await ask(child)).awakeMs > 0, 'a clock that goes')
  child.kill('SIGSTOP')
  await pause(3000)
  child.kill('SIGCONT')
  const stopped = await ask(child)
  expect(stopped.wallMs).toBeGreaterThanOrEqual(2900)
  expect(stopped.awakeMs).toBeLessThanOrEqual(stopped.wallMs - 2000)
})

test('and goes on while a driver blocks the event loop', async () => {
  // once more where the machine itself stood still
  await until(() => {
    const before = awakeMs()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)
    return awakeMs() - before >= 1500
  }, 'a wait that is counted')
})
