import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

import { describe, expect, onTestFinished, test } from 'vitest'

import { awakeMs } from '../../src/conformance/awake.ts'
import { programOf } from '../engines/program.ts'
import { until } from '../engines/until.ts'

interface Clocks {
  readonly wallMs: number
  readonly awakeMs: number
}

/** A process that has looked at its clocks once, and what it saw. */
async function start(
  ...args: readonly string[]
): Promise<{ readonly child: ChildProcess; readonly first: Clocks }> {
  const child = fork(await programOf(new URL('./awake-child.ts', import.meta.url)), args, { execArgv: [] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [first] = (await once(child, 'message')) as [Clocks]
  return { child, first }
}

async function ask(child: ChildProcess): Promise<Clocks> {
  const answer = once(child, 'message')
  child.send('look')
  const [clocks] = (await answer) as [Clocks]
  return clocks
}

async function untilItGoes(child: ChildProcess): Promise<Clocks> {
  let seen = await ask(child)
  await until(async () => (seen = await ask(child)).awakeMs > 0, 'a clock that goes')
  return seen
}

function expectStoodStill(before: Clocks, after: Clocks): void {
  const wallMs = after.wallMs - before.wallMs
  expect(wallMs).toBeGreaterThanOrEqual(2900)
  expect(after.awakeMs - before.awakeMs).toBeLessThanOrEqual(wallMs - 2000)
}

// Windows cannot stop a process where it stands
describe.skipIf(process.platform === 'win32')('the clock of the laws stands still with its process', () => {
  test('that had run before', async () => {
    const { child } = await start()
    const before = await untilItGoes(child)
    child.kill('SIGSTOP')
    await pause(3000)
    child.kill('SIGCONT')
    expectStoodStill(before, await ask(child))
  })

  test('that had just begun', async () => {
    const { child, first } = await start('stops')
    // again and again: it may stop later than it is woken
    const waking = setInterval(() => child.kill('SIGCONT'), 3000)
    onTestFinished(() => clearInterval(waking))
    expectStoodStill(first, await untilItGoes(child))
  })
})

test('and goes on while a driver blocks the event loop', async () => {
  // once more where the machine itself stood still
  await until(() => {
    const before = awakeMs()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)
    return awakeMs() - before >= 1500
  }, 'a wait that is counted')
})
