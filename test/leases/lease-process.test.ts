import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import { programOf } from '../engines/program.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeLeases, take } from './lease-stage.ts'

interface Holder {
  readonly child: ChildProcess
  readonly lines: () => readonly string[]
}

const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

/** Starts a process that holds the lease, and waits until it does. */
async function startHolder(url: string, name: string, mode: 'stays' | 'leaves'): Promise<Holder> {
  const program = await programOf(new URL('lease-holder.ts', import.meta.url))
  const child = spawn(process.execPath, [program, url, name, '4000', mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let text = ''
  child.stdout.on('data', (data) => (text += String(data)))
  const lines = (): readonly string[] => text.split('\n').slice(0, -1)
  await until(() => lines().length > 0, 'a lease in another process')
  return { child, lines }
}

describeLeases(
  (stage) => {
    // Windows cannot stop a process where it stands
    test.skipIf(process.platform === 'win32')(
      'a process that was stopped sees that it lost the lease, which another has by then',
      async () => {
        const name = stage.fresh()
        const { child, lines } = await startHolder(stage.engine.server.url, name, 'stays')
        expect(await caught(take(stage.process(), name, { wait: { timeoutMs: 5000 } }))).toBeInstanceOf(Error)
        child.kill('SIGSTOP')
        const next = await take(stage.process(), name, { wait: { timeoutMs: 60_000 } })
        expect(next.fence).toBeGreaterThan(Number(lines()[0]))
        // a process that gets little time to run may have thought before that it was stopped
        const before = lines().length
        child.kill('SIGCONT')
        await until(() => lines().length > before, 'word of the woken process')
        expect(lines()[before]).toBe('lost')
        expect((await stage.row(name))?.owner).toBe(next.owner)
      },
    )

    test('the lease of a process that was killed passes on when its time is over', async () => {
      const name = stage.fresh()
      const { child, lines } = await startHolder(stage.engine.server.url, name, 'stays')
      child.kill('SIGKILL')
      expect(await caught(take(stage.process(), name, { wait: 'nowait' }))).toBeInstanceOf(
        LockNotAvailableError,
      )
      const next = await take(stage.process(), name, { wait: { timeoutMs: 60_000 } })
      expect(next.fence).toBeGreaterThan(Number(lines()[0]))
    })

    test('a process that has nothing else to do is not kept alive by its lease', async () => {
      const { child } = await startHolder(stage.engine.server.url, stage.fresh(), 'leaves')
      await until(() => child.exitCode !== null, 'the end of the process')
      expect(child.exitCode).toBe(0)
    })
  },
  ['postgres'],
)
