import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { afterEach, describe, expect, test } from 'vitest'

import { exists } from './cache-folder.ts'
import type { Origin, Server } from './engine.ts'
import { signal, startTime, withDescendants } from './process-table.mjs'
import { describeEngines, startsServers, until } from './use.ts'

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Another process that starts a server as a test run would, and then lives until it is ended. */
async function otherRun(engine: string, like: Origin): Promise<{ run: ChildProcess; server: Server }> {
  const script = `
    import { startAnother } from '${new URL('private-server.ts', import.meta.url).href}'
    const { server } = await startAnother('${engine}', '${like}')
    console.log(JSON.stringify(server))
    process.stdin.resume()`
  const run = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(run)
  for await (const line of createInterface({ input: run.stdout }))
    return { run, server: JSON.parse(line) as Server }
  throw new Error(`the other run did not start ${engine}`)
}

/** Waits until no process of the server is left, and its folder neither. */
async function untilGone(pids: readonly number[], folder: string): Promise<void> {
  await until(
    () => pids.every((pid) => startTime(pid) === undefined),
    'the end of every process of the server',
  )
  await until(async () => !(await exists(folder)), "the end of the server's folder")
}

describeEngines(({ name, server: shared }) => {
  test(
    'a server is gone soon after its run was killed with no chance to clean up',
    startsServers,
    async ({ skip }) => {
      if (shared.pid === undefined) skip('it has no process of ours')
      const { run, server } = await otherRun(name, shared.origin)
      const { pid = 0, folder = '' } = server
      const pids = withDescendants(pid)
      expect(startTime(pid)).toBeDefined()
      run.kill('SIGKILL')
      await untilGone(pids, folder)
    },
  )

  test('a frozen server is gone too', startsServers, async ({ skip }) => {
    if (shared.pid === undefined) skip('it has no process of ours')
    const { run, server } = await otherRun(name, shared.origin)
    const { pid = 0, folder = '' } = server
    const pids = withDescendants(pid)
    signal(pids, 'SIGSTOP')
    run.kill('SIGKILL')
    await untilGone(pids, folder)
  })
})

// it finds processes by what only Linux tells of them; elsewhere there are none to end
describe.skipIf(process.platform !== 'linux')('the reaper', () => {
  /** Tells a reaper of one process, closes the pipe as a dying run does, and waits until it has done its work. */
  async function reap(charge: object): Promise<void> {
    const script = fileURLToPath(new URL('end-servers.mjs', import.meta.url))
    const reaper = spawn(process.execPath, [script], { stdio: ['pipe', 'ignore', 'inherit'] })
    children.push(reaper)
    reaper.stdin.end(`${JSON.stringify({ mark: 'HOLDFAST_SERVER_MARK=none', ...charge })}\n`)
    await once(reaper, 'exit')
  }

  function bystander(): ChildProcess {
    const child = spawn('sleep', ['60'])
    children.push(child)
    return child
  }

  test('ends a process that it was told of', async () => {
    const { pid = 0 } = bystander()
    await reap({ pid, startTime: startTime(pid) })
    expect(startTime(pid)).toBeUndefined()
  })

  test('leaves a process alone that has got the number of one it was told of', async () => {
    const { pid = 0 } = bystander()
    await reap({ pid, startTime: '1' })
    expect(startTime(pid)).toBeDefined()
  })

  test('ends a process whose number it was never told, by its mark', async () => {
    const mark = 'HOLDFAST_SERVER_MARK=of-this-test'
    const child = spawn('sleep', ['60'], { env: { ...process.env, HOLDFAST_SERVER_MARK: 'of-this-test' } })
    children.push(child)
    await once(child, 'spawn')
    await reap({ mark })
    await until(() => startTime(child.pid ?? 0) === undefined, 'its end')
  })
})
