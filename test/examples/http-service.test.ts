import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

import { startPrivate, until } from '../engines/use.ts'
import { start, type Running } from './command.ts'

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | null
}

async function serve(url: string): Promise<{ readonly service: Running; readonly home: string }> {
  const service = await start('examples/http-service.ts', ['--port', '0', '--url', url])
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const home = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(service.printed.stdout)?.[0]
  await until(() => home() !== undefined, 'that the service is up')
  return { service, home: home() ?? '' }
}

async function click(home: string, cart = 1): Promise<Answer> {
  const response = await fetch(`${home}/carts/${cart}/checkout`, { method: 'POST' })
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, text: await response.text(), retryAfter }
}

/**
 * Clicks twice at once, until one of the clicks finds the other at work. On a machine that is busy the database may be
 * too late for both: then another cart is tried.
 */
async function clickTwice(home: string): Promise<readonly Promise<Answer>[]> {
  let clicks: readonly Promise<Answer>[] = []
  let cart = 0
  const isOneBusy = async (): Promise<boolean> => {
    cart += 1
    clicks = [click(home, cart), click(home, cart)]
    return (await Promise.race(clicks)).status === 409
  }
  await until(isOneBusy, 'a click that finds another at work')
  return clicks
}

// Windows has no signal that asks a process to end
test.skipIf(process.platform === 'win32')(
  'a service that stays up is busy while it pays, and ends in order',
  { timeout: 600_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-service-'))
    try {
      const { service, home } = await serve(`sqlite:${join(folder, 'app.db')}`)
      const clicks = await clickTwice(home)
      service.child.kill('SIGINT')
      const answers = await Promise.all(clicks)
      expect(answers, 'what is under way is answered first').toEqual(
        expect.arrayContaining([
          { status: 200, text: 'paid\n', retryAfter: null },
          { status: 409, text: 'busy, try again\n', retryAfter: '1' },
        ]),
      )
      const { stdout, stderr, exitCode } = await service.ended
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
      expect(stdout).toMatch(/stopped\n$/)
      expect(await readdir(folder), 'its database is gone').toEqual([])
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)

test('a database that does not answer makes it a 503', { timeout: 600_000 }, async (context) => {
  const server = await startPrivate('postgres')
  if ('unavailable' in server) return context.skip(server.unavailable)
  try {
    const { service, home } = await serve(server.server.url)
    await server.freeze()
    const answer = await click(home)
    await server.thaw()
    expect(answer).toMatchObject({ status: 503, retryAfter: '5' })
    service.child.kill('SIGINT')
    expect((await service.ended).exitCode).toBe(0)
  } finally {
    await server.stop()
  }
})
