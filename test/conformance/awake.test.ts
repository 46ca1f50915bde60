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
  /** What the clock showed when two seconds were over; absent until then. */
  readonly overAtMs?: number
}

interface Beginning {
  readonly args?: readonly string[]
  /** Options of Node. */
  readonly execArgv?: readonly string[]
}

/** A process that has looked at its clocks once, and what it saw. */
async function start({ args = [], execArgv = [] }: Beginning = {}): Promise<{
  readonly child: ChildProcess
  readonly first: Clocks
}> {
  const program = await programOf(new URL('./awake-child.ts', import.meta.url))
  const child = fork(program, args, { execArgv: [...execArgv] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, first: await said(child) }
}

function ask(child: ChildProcess): Promise<Clocks> {
  const answer = said(child)
  child.send('look')
  return answer
}

async function said(child: ChildProcess): Promise<Clocks> {
  const heard = new AbortController()
  const { signal } = heard
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the process has ended with ${code}`)
  })
  try {
    const [clocks] = (await Promise.race([once(child, 'message', { signal }), ended])) as [Clocks]
    return clocks
  } finally {
    heard.abort()
  }
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
    const { child, first } = await start({ args: ['stops'] })
    // again and again: it may stop later than it is woken
    const waking = setInterval(() => child.kill('SIGCONT'), 3000)
    onTestFinished(() => clearInterval(waking))
    expectStoodStill(first, await untilItGoes(child))
    await until(async () => (await ask(child)).overAtMs !== undefined, 'the end of two seconds')
    expect((await ask(child)).overAtMs).toBeGreaterThanOrEqual(2000)
  })
})

test('whoever waits for a time of it keeps no process alive', async () => {
  const { child } = await start({ args: ['ends'] })
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0)
})

test('and goes on while a driver blocks the event loop', async () => {
  // once more where the machine itself stood still
  await until(() => {
    const before = awakeMs()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)
    return awakeMs() - before >= 1500
  }, 'a wait that is counted')
})

describe('the clock on the wall takes its place', () => {
  test('where no threads are allowed', async () => {
    const isNew = process.allowedNodeEnvironmentFlags.has('--permission')
    const permission = isNew ? '--permission' : '--experimental-permission'
    const { child } = await start({ execArgv: [permission, '--allow-fs-read=*', '--no-warnings'] })
    await untilItGoes(child)
  })

  test('where its thread ends, and goes on from where that stood', async () => {
    const ending = `
      import workers from 'node:worker_threads'
      import { syncBuiltinESMExports } from 'node:module'
      const { Worker } = workers
      const code = 'require("node:worker_threads").workerData[0] = 5_000_000; throw new Error("no memory is left")'
      workers.Worker = class extends Worker {
        constructor(_, options) { super(code, options) }
      }
      syncBuiltinESMExports()`
    const preload = `data:text/javascript,${encodeURIComponent(ending)}`
    const { child } = await start({ execArgv: ['--import', preload] })
    await until(async () => (await ask(child)).awakeMs > 5_000_000, 'a clock that goes on')
  })
})
