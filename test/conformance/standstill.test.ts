import { fork } from 'node:child_process'
import { once } from 'node:events'

import { describe, expect, onTestFinished, test } from 'vitest'

import { programOf } from '../engines/program.ts'
import { describeEngines } from '../engines/use.ts'

/** What became of a law in whose first runs the process stood still, and of which each ended in a broken law. */
async function runStopped(url: string, badRuns: number): Promise<unknown> {
  const program = await programOf(new URL('./run-law-child.ts', import.meta.url))
  const child = fork(program, [url, String(badRuns)], { execArgv: [] })
  let waking: NodeJS.Timeout | undefined
  onTestFinished(() => {
    clearInterval(waking)
    child.kill('SIGKILL')
  })
  const told: unknown[] = []
  child.on('message', (words) => {
    clearInterval(waking)
    // again and again: it may stop later than it is woken
    if (words === 'stops') waking = setInterval(() => child.kill('SIGCONT'), 3000)
    else told.push(words)
  })
  expect(await once(child, 'exit')).toEqual([0, null])
  return told[0]
}

// Windows cannot stop a process where it stands
describe.skipIf(process.platform === 'win32')('a law that is broken while the process stands still', () => {
  describeEngines(
    (context) => {
      test('is run again, and holds', async () => {
        expect(await runStopped(context.engine.server.url, 1)).toMatchObject({ verdict: 'holds', runs: 2 })
      })

      test('is broken, when it is broken time and again', async () => {
        const { verdict, reason, runs } = (await runStopped(context.engine.server.url, Infinity)) as {
          readonly verdict: string
          readonly reason: string
          readonly runs: number
        }
        expect([verdict, reason]).toEqual(['broken', `broken in run ${runs}`])
        expect(runs).toBeGreaterThan(1)
      })
    },
    { only: ['sqlite'] },
  )
})
