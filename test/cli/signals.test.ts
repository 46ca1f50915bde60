import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { describe, expect, test } from 'vitest'

import { describeEngines, startPrivate, until } from '../engines/use.ts'
import { scratchOn } from './scratch.ts'
import { cli, program } from './terminal.ts'

describe('holdfast verify <url>', () => {
  describeEngines(
    () => {
      test.for([
        ['SIGINT', 130],
        ['SIGTERM', 143],
        ['SIGHUP', 129],
      ] as const)('removes its database at %s, and ends with %d', async ([signal, exitCode], { skip }) => {
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

describe('an address in the wrong place', () => {
  const address = 'postgres://app:s3cr%40t@localhost/app?sslpassword=t0p'
  test.for([
    [[address], '"postgres://localhost/app" is not a command'],
    [['help', address], '"postgres://localhost/app" is not a command'],
    [['schema', address], '"postgres://localhost/app" is not a dialect'],
    [['schema', 'postgres', address], 'no postgres://localhost/app'],
    [['explain', address], '"postgres://localhost/app" is not a dialect'],
    [['explain', 'postgres', address], '"postgres://localhost/app" is not a category'],
    [['matrix', address], '"postgres://localhost/app" is not a dialect'],
    [['verify', '--law', address], 'there is no law "postgres://localhost/app"'],
    [['verify', `--law=${address}`], 'there is no law "postgres://localhost/app"'],
    [['schema', 'app:s3cr%40t@localhost'], '"(an address without a scheme)" is not a dialect'],
  ] as const)('is told without its password: %j', async ([args, words]) => {
    const { output, progress, exitCode } = await cli([...args])
    expect(exitCode).toBe(2)
    expect(output + progress).toContain(words)
    expect(output + progress).not.toMatch(/s3cr|t0p/)
  })
})
