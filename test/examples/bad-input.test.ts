import { expect, test } from 'vitest'

import { run } from './command.ts'

const secret = 'hunter2'

/** What is wrong, how the program ends, and what its one line says. */
const mistakes: readonly (readonly [string, readonly string[], 2 | 3, string])[] = [
  ['an unknown option', [`--uri=postgres://me:${secret}@localhost/me`], 2, '--uri is no option: --url, '],
  ['an option without its value', ['--url'], 2, "Option '--url <value>' argument missing"],
  ['a value for a switch', ['--without-lock=no'], 2, "'--without-lock' does not take an argument"],
  ['an address without its option', [`postgres://me:${secret}@localhost/me`], 2, 'as --url <address>'],
  ['a port for a story that has none', ['--port', '8080'], 2, '--port is no option'],
  [
    'an unknown protocol',
    ['--url', `oracle://me:${secret}@localhost/me`],
    2,
    'no driver is known for oracle://',
  ],
  ['an address that cannot be read', ['--url', `postgres://me:${secret}/@:x/me`], 2, 'cannot be read'],
  ['a folder that is not there', ['--url', 'sqlite:/no/such/folder/app.db'], 2, 'there is no folder'],
  ['a database in memory', ['--url', 'sqlite::memory:'], 2, 'name a file'],
  [
    'PostgreSQL that is not there',
    ['--url', `postgres://me:${secret}@127.0.0.1:1/me`],
    3,
    'cannot reach postgres://127.0.0.1:1/',
  ],
  [
    'MySQL that is not there',
    ['--url', `mysql://me:${secret}@127.0.0.1:1/me`],
    3,
    'cannot reach mysql://127.0.0.1:1/',
  ],
  [
    'SQL Server that is not there',
    ['--url', `mssql://me:${secret}@127.0.0.1:1/me`],
    3,
    'cannot reach mssql://127.0.0.1:1/',
  ],
  [
    'MongoDB that is not there',
    ['--url', `mongodb://me:${secret}@127.0.0.1:1/me`],
    3,
    'cannot reach mongodb://127.0.0.1:1/',
  ],
]

test.concurrent.each(mistakes)('%s ends with one clear line', { timeout: 600_000 }, async (...mistake) => {
  const [, args, exitCode, words] = mistake
  const ended = await run('examples/transfer.ts', args)
  expect(ended).toMatchObject({ stdout: '', exitCode })
  expect(ended.stderr).toContain(words)
  expect(ended.stderr.split('\n')).toEqual([expect.any(String), ''])
  expect(ended.stderr).not.toContain(secret)
})

test('a port that is none is refused', async () => {
  const ended = await run('examples/http-service.ts', ['--port', '80800'])
  expect(ended).toEqual({ stdout: '', stderr: '--port: "80800" is no port\n', exitCode: 2 })
})

test('--help says what is shown, and which switches there are', async () => {
  const { stdout, stderr, exitCode } = await run('examples/http-service.ts', ['--help'])
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  expect(stdout).toMatch(/^A service answers "busy, try again" within 100 ms/)
  for (const option of ['--url', '--without-lock', '--port', '--help'])
    expect(stdout).toContain(`\n  ${option}`)
})
