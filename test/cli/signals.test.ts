import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import { describeEngines, startPrivate, until } from '../engines/use.ts'
import { scratchOn } from './scratch.ts'
import { program } from './terminal.ts'

const ends = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

test.for(ends)('what %s ends a command with, %d, is in the table of exit codes', async ([, exitCode]) => {
  const page = await readFile(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  expect(page).toContain(`\n| \`${exitCode}\` | `)
})

describe('holdfast verify <url>', () => {
  describeEngines(
    () => {
      test.for(ends)('removes its database at %s, and ends with %d', async ([signal, exitCode], { skip }) => {
        const own = await startPrivate('postgres')
        if ('unavailable' in own) return skip(own.unavailable)
        const { url } = own.server
        const args = [await program(), 'verify', url, '--law', 'R', '--repeat', '100']
        const child = spawn(process.execPath, args, { stdio: 'ignore' })
        const exit = once(child, 'exit')
        await until(async () => (await scratchOn(url)).length > 0, 'a database for the laws')
        child.kill(signal)
        expect(await exit).toEqual([exitCode, null])
        expect(await scratchOn(url)).toEqual([])
        await own.stop()
      })
    },
    { only: ['postgres'] },
  )
})
