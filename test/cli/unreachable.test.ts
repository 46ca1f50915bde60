import { afterEach, expect, test, vi } from 'vitest'

import { runCli } from '../../src/cli/run.ts'
import { describeEngines, startPrivate, startsServers } from '../engines/use.ts'
import { cli } from './terminal.ts'

afterEach(() => void vi.unstubAllEnvs())

test.each(
  ['doctor', 'inspect'].flatMap((command) =>
    ['postgres', 'mysql', 'mongodb', 'sqlserver'].map((protocol) => [command, protocol] as const),
  ),
)('%s names an address that was never reached, without its secret: %s', async (command, protocol) => {
  const { text, exitCode } = await cli([command, `${protocol}://me:hidden@127.0.0.1:1/app`])
  expect(text).toMatch(new RegExp(`^${command}: cannot reach ${protocol}://127\\.0\\.0\\.1:1/app: .+\\n$`))
  expect(text).not.toContain('no longer')
  expect(text).not.toContain('hidden')
  expect(exitCode).toBe(3)
})

test('a file is named as Prisma does, too', async () => {
  const { text, exitCode } = await cli(['doctor', 'file:./no-such-file?connection_limit=1'])
  expect(text).toBe('doctor: there is no file file:./no-such-file\n')
  expect(exitCode).toBe(3)
})

test.each(['postgres://me:hidden@127.0.0.1:99999/app', 'mysql://me:hidden@<host>/app'])(
  'verify does not show the secret of an address that cannot be read: %s',
  async (address) => {
    const { text, exitCode } = await cli(['verify', address])
    expect(text).not.toContain('hidden')
    expect(exitCode).toBe(3)
  },
)

test.each(['doctor', 'inspect', 'verify'])(
  '%s goes where DATABASE_URL leads, says so, and hides its secret',
  async (command) => {
    vi.stubEnv('DATABASE_URL', 'postgres://me:hidden@127.0.0.1:1/app')
    const args = command === 'verify' ? [command, '--env', '--law', 'R1'] : [command]
    const { output, progress, exitCode } = await cli(args)
    expect(output).toContain('postgres://127.0.0.1:1/app: ')
    expect(progress).toContain(`${command}: DATABASE_URL is postgres://127.0.0.1:1/app\n`)
    expect(output + progress).not.toContain('hidden')
    expect(exitCode).toBe(3)
    vi.stubEnv('DATABASE_URL', '')
    expect((await cli(args)).text).toContain(
      `${command}: name the address of a database, or set DATABASE_URL to it\n`,
    )
  },
)

test('verify leaves DATABASE_URL alone unless it is told', async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://me:hidden@127.0.0.1:1/app')
  const { text } = await cli(['verify', '--use-empty'])
  expect(text).toContain('--use-empty: give the address of an empty database')
})

describeEngines(
  ({ name }) => {
    test('inspect --watch names the address of a server that is gone', startsServers, async ({ skip }) => {
      const own = await startPrivate(name)
      if ('unavailable' in own) return skip(own.unavailable)
      const { host } = new URL(own.server.url)
      let gone: Promise<void> | undefined
      const { text, exitCode } = await runCli(['inspect', '--watch', '--every', '10', own.server.url], {
        write: () => void (gone ??= own.stop()),
        progress: () => {},
        isInteractive: false,
        isScreen: false,
        hasColour: false,
        columns: 100,
        signal: new AbortController().signal,
      })
      await gone
      expect(text).toBe(`inspect: postgres://${host}/postgres can no longer be reached\n`)
      expect(exitCode).toBe(3)
    })
  },
  { only: ['postgres'] },
)
