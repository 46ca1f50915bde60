import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { cli } from './terminal.ts'

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

  test.for([
    ['doctor', '--queue', 'postgres://app:s3cr%40t@127.0.0.1', ':memory:'],
    ['explain', `postgres@${address}`, 'advisory'],
    ['race', address],
    ['race', `./${address}`],
    ['verify', '--reporter', `json:${address}`, ':memory:'],
    ['verify', `./${address}`],
  ])('is not shown where it was taken for something else: %j', async (args) => {
    const { output, progress } = await cli(args)
    expect(output + progress).not.toMatch(/s3cr/)
    expect(output + progress).toMatch(/localhost|127\.0\.0\.1/)
  })

  test('nor where a server was to listen', async ({ onTestFinished }) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'empty.db'), '')
    const { output, progress } = await cli(['board', '--host', address, join(folder, 'empty.db')])
    expect(output + progress).toContain('cannot listen on postgres://localhost/app')
    expect(output + progress).not.toMatch(/s3cr/)
  })

  test('nor is one that somebody else has put into an error', async ({ onTestFinished }) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'race.mjs'), `throw new Error('no way to ${address}')`)
    const { output } = await cli(['race', join(folder, 'race.mjs')])
    expect(output).toContain('no way to postgres://localhost/app')
    expect(output).not.toMatch(/s3cr/)
  })

  test('a name that looks like one is shown', async () => {
    const { output } = await cli(['explain', 'postgres', 'row-exclusive', '--table', 'user:7@shop'])
    expect(output).toContain('user:7@shop')
  })
})
