import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { randomFrom, type Random } from '../faults/random.ts'
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
    expect(output + progress).not.toMatch(/s3cr|t0p/)
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

describe('a password among settings', () => {
  test.for([
    [['schema', 'file:./x.db?password=s3cr'], '"file:./x.db?password=..." is not a dialect'],
    [
      ['schema', 'host=127.0.0.1 port=1 password=s3cr'],
      '"host=127.0.0.1 port=1 password=..." is not a dialect',
    ],
    [
      ['schema', 'Server=a;User Id=sa;Password=s3cr;Encrypt=true'],
      '"Server=a;User Id=sa;Password=..." is not',
    ],
    [['schema', 'postgres', 'pwd=s3cr'], 'no pwd=...'],
    [['schema', '{"user":"app","password":"s3cr"}'], 'password\\":...'],
    [['schema', '--', '--token=s3cr'], '"--token=..." is not a dialect'],
    [['order', 'host=127.0.0.1 passwd=s3cr'], 'order: host=127.0.0.1 passwd=...'],
    [['explain', 'postgres', 'row-shared', '--table', 'app?secret=s3cr'], '"app?secret=..."'],
    [['race', './x//x.mjs?API_KEY=s3cr'], 'cannot load ./x//x.mjs?API_KEY=...'],
    [['race', 'api key: s3cr'], 'cannot load api key: ...'],
    [['race', 'app:s3cr@localhost'], 'cannot load (an address without a scheme)'],
    [['verify', '--law=token:s3cr'], 'there is no law "token:..."'],
    [['verify', '--token:s3cr'], '--token:... is not an option'],
    [['doctor', 'postgres://127.0.0.1:1/x', '--queue', 'client_secret=s3cr'], '"client_secret=..." is not'],
  ] as const)('is told without it: %j', async ([args, words]) => {
    const { output, progress } = await cli([...args])
    expect(output + progress).toContain(words)
    expect(output + progress).not.toContain('s3cr')
  })

  test.for([
    [['schema', 'tokens'], '"tokens" is not a dialect'],
    [['schema', 'password-reset.sql'], '"password-reset.sql" is not a dialect'],
    [['schema', 'secret', 'token'], 'no token'],
    [['order', './api key'], 'order: ./api key: ENOENT'],
    [['explain', 'postgres', 'row-shared', '--table', 'token:7'], '"token:7"'],
    [['schema', 'user=7'], '"user=7" is not a dialect'],
  ] as const)('hides no word that has none: %j', async ([args, words]) => {
    const { output } = await cli([...args])
    expect(output).toContain(words)
  })

  test('is told without it, whatever stands around it', async () => {
    const random = randomFrom(7)
    for (let run = 0; run < 400; run += 1) {
      const args = random.pick(places)(wordIn(random))
      const { output, progress } = await cli(args)
      expect(output + progress, JSON.stringify(args)).not.toContain('s3cr')
    }
  })
})

/** Command lines that take a word for something else, and say so. */
const places: readonly ((word: string) => readonly string[])[] = [
  (word) => ['schema', '--', word],
  (word) => ['schema', 'postgres', word],
  (word) => ['order', word],
  (word) => ['matrix', `postgres@${word}`],
  (word) => ['explain', 'mysql', word],
  (word) => ['explain', `mysql@${word}`, 'advisory', '--format', 'json'],
  (word) => ['explain', 'mysql', 'row-shared', '--isolation', word],
  (word) => ['race', word],
  (word) => ['race', `--${word}`],
  (word) => ['verify', `--law=${word}`],
  (word) => ['verify', '--reporter', word],
  (word) => ['verify', 'postgres://127.0.0.1:1/x', '--timeout', word],
  (word) => ['doctor', 'postgres://127.0.0.1:1/x', '--queue', word],
  (word) => ['inspect', 'postgres://127.0.0.1:1/x', '--every', word],
]

const names = [
  'password',
  'pwd',
  'passwd',
  'secret',
  'token',
  'api key',
  'api_key',
  'apiKey',
  'sslpassword',
  'auth-token',
]
const noise = 'aB7 _-./\\@:;,&?=#%"\'`{}[]()$<>\n\té…'

/** A secret among settings, as somebody may write one. */
function wordIn({ pick, below }: Random): string {
  const some = (most: number): string =>
    Array.from({ length: below(most) }, () => pick(noise.split(''))).join('')
  const name = pick([...names, ...names.map((one) => one.toUpperCase())])
  const before = pick([
    '',
    'x',
    'file:./x.db?',
    'host=h ',
    'Server=h;',
    'postgres://h/x?a=b&',
    '{"a":1,"',
    './a//',
    some(9),
  ])
  const separator = pick(['=', ':', ' = ', ': ', '":"', "='", '%3D'])
  const after = pick(['', ' port=1', ';Encrypt=true', '&sslmode=x', '"}', '.js', some(9)])
  return `${before}${name}${separator}${some(5)}s3cr${some(5)}${after}`
}
