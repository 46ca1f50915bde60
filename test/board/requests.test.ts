import { request, type IncomingMessage, type RequestOptions } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createLocks, type Locks } from '../../src/entries/better-sqlite3.ts'
import { cli } from '../cli/terminal.ts'
import { startBoard, withBoard, type RunningBoard } from './stage.ts'

/*
 * What the board answers to those who are not its page. SQLite is the database: nothing of this depends on it.
 */

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Sends a request as no browser would let a page send it. */
function ask(address: string, path: string, options: RequestOptions = {}, body = ''): Promise<Answer> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path, ...options }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (part: string) => (text += part))
        .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    asking.on('error', reject).end(body)
  })
}

let folder = ''
let file = ''
let db: Database.Database
let locks: Locks<Database.Database>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-board-'))
  file = join(folder, 'app.db')
  db = new Database(file)
  locks = createLocks(db)
})
afterAll(async () => {
  db.close()
  await rm(folder, { recursive: true, force: true })
})

/** The first event of a name that the board tells. */
async function firstEvent(address: string, name: string): Promise<unknown> {
  const leave = new AbortController()
  const { body } = await fetch(`${address}events`, { signal: leave.signal })
  let text = ''
  if (body === null) throw new Error('there is no stream')
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part
    const data = new RegExp(`event: ${name}\\ndata: (.*)\\n\\n`).exec(text)?.[1]
    if (data === undefined) continue
    leave.abort()
    return JSON.parse(data) as unknown
  }
  throw new Error(`the stream has ended without ${name}`)
}

describe('a board that only reads', () => {
  let board: RunningBoard
  let path = ''
  beforeAll(async () => {
    board = await startBoard([file])
    path = new URL(board.address).pathname
  })
  afterAll(() => board.stop())

  test('has a token of its own in its address, on this machine alone', () => {
    expect(board.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/)
  })

  test('gives its page to who has the token, and nothing of it to others', async () => {
    const { status, text, headers } = await ask(board.address, path)
    expect(status).toBe(200)
    expect(text).toContain('<title>Holdfast board</title>')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    for (const wrong of [
      '/',
      '/events',
      `${path.slice(0, -2)}${path.endsWith('x/') ? 'y' : 'x'}/`, // the token is drawn
      path.slice(0, -1),
      `/x${path}`,
      '/%2e%2e/',
    ]) {
      const refused = await ask(board.address, wrong)
      expect(refused.status, wrong).toBe(403)
      expect(refused.text, wrong).not.toContain('Holdfast board')
      expect(refused.text, wrong).not.toContain(path.slice(1, -1))
    }
    expect((await ask(board.address, `${path}nothing`)).status).toBe(404)
  })

  test('lets the page load nothing, and nobody keep or frame it', async () => {
    for (const where of [path, '/']) {
      const { headers } = await ask(board.address, where)
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toMatch(/script-src 'sha256-[\w+/=]+'(?:;|$)/)
      expect(policy).not.toContain('unsafe')
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      expect(headers).not.toHaveProperty('set-cookie')
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('is one text that names no other address', async () => {
    const { text } = await ask(board.address, path)
    expect(text).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!data:)/)
    const addresses = text.match(/https?:\/\/[^\s"'`\\)]+/g) ?? []
    expect(new Set(addresses)).toEqual(new Set(['http://www.w3.org/2000/svg']))
  })

  test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example'])(
    'does not answer to the name %j, which may be made to lead here',
    async (host) => {
      expect((await ask(board.address, path, { headers: { host } })).status).toBe(403)
    },
  )

  test('refuses what is not read', async () => {
    const post = await ask(board.address, path, { method: 'POST' })
    expect(post).toMatchObject({ status: 405, headers: { allow: 'GET' } })
    expect((await ask(board.address, `${path}events`, { method: 'DELETE' })).status).toBe(405)
    expect((await ask(board.address, `${path}end`)).status).toBe(405)
    const end = await ask(board.address, `${path}end`, { method: 'POST', headers: own(board) }, '{}')
    expect(end.status).toBe(403)
    expect(end.text).toContain('--allow-kill')
  })

  test('tells a lease', async () => {
    const lease = await locks.lease(['board', 'report'])
    expect(await firstEvent(board.address, 'greeting')).toMatchObject({
      title: file,
      ending: { isAllowed: false, ways: [] },
    })
    // the first look may be older than the lease
    let news: unknown
    do news = await firstEvent(board.address, 'news')
    while (!JSON.stringify(news).includes('board.report'))
    expect(news).toMatchObject({ look: { dialect: 'sqlite' } })
    await lease.release()
  })
})

function own({ address }: RunningBoard): Record<string, string> {
  const { origin, pathname } = new URL(address)
  return {
    origin,
    'content-type': 'application/json',
    authorization: `Bearer ${pathname.slice(1, -1)}`,
  }
}

test('where no server could end a session, --allow-kill says so', async () => {
  await withBoard(['--allow-kill', file], async (board) => {
    const greeting = await firstEvent(board.address, 'greeting')
    expect(greeting).toMatchObject({
      ending: { isAllowed: true, ways: [], reason: expect.stringContaining('no server') },
    })
    const path = `${new URL(board.address).pathname}end`
    const body = JSON.stringify({ id: '1', way: 'end' })
    const refused = await ask(board.address, path, { method: 'POST', headers: own(board) }, body)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('no server')
    const headers = own(board)
    const foreign = { ...headers, origin: 'http://evil.example' }
    expect((await ask(board.address, path, { method: 'POST', headers: foreign }, body)).status).toBe(403)
    const wrong = { ...headers, authorization: 'Bearer x' }
    expect((await ask(board.address, path, { method: 'POST', headers: wrong }, body)).status).toBe(403)
    const plain = { ...headers, 'content-type': 'text/plain' }
    expect((await ask(board.address, path, { method: 'POST', headers: plain }, body)).status).toBe(403)
    expect((await ask(board.address, path, { method: 'POST', headers }, 'x'.repeat(5000))).status).toBe(400)
  })
})

test('a queue is told with its counts, and one that is not there with what is missing', async () => {
  db.exec('CREATE TABLE job (id INTEGER PRIMARY KEY, at INTEGER, token TEXT, until INTEGER)')
  db.exec('INSERT INTO job (at) VALUES (1000), (2000)')
  const described = { id: 'id', orderBy: 'id', claim: { token: 'token', until: 'until' }, done: 'delete' }
  const queues = [
    { table: 'job', storedAtMs: 'at', ...described },
    { table: 'nowhere', name: 'lost', ...described },
  ]
  await withBoard(['--queue', JSON.stringify(queues), file], async (board) => {
    const news = (await firstEvent(board.address, 'news')) as {
      look: { queues: { oldestMs?: number }[] }
    }
    expect(news.look.queues).toMatchObject([
      { name: 'job', counts: { ready: 2, delayed: 0, claimed: 0 } },
      { name: 'lost', problem: expect.stringContaining('nowhere') },
    ])
    expect(news.look.queues[0]?.oldestMs).toBeGreaterThan(1_000_000_000_000)
  })
})

test('its end closes the pages, and is no failure', async () => {
  const board = await startBoard([file])
  const { body } = await fetch(`${board.address}events`)
  const reader = body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  expect(await board.stop()).toEqual({ text: '', exitCode: 0 })
  const rest = async (): Promise<boolean> => {
    for (;;) if ((await reader?.read())?.done !== false) return true
  }
  // cut off, or ended in order: in any case nothing more comes
  await expect(rest().catch(() => true)).resolves.toBe(true)
  await expect(fetch(board.address)).rejects.toThrow()
})

test.each([
  [['--no-token', '--allow-kill'], '--no-token: goes with neither'],
  [['--no-token', '--host', '0.0.0.0'], '--no-token: goes with neither'],
  [['--port', '70000'], '--port: 70000'],
  [['--port', 'x'], '--port: "x"'],
  [['--queue', '{'], '--queue:'],
])('%j is a mistake', async (args, said) => {
  const { exitCode, output } = await cli(['board', ...args, file])
  expect(exitCode).toBe(2)
  expect(output).toContain(said)
})

test('without a token everybody on this machine is let in', async () => {
  await withBoard(['--no-token', file], async (board) => {
    expect(board.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await ask(board.address, '/')).status).toBe(200)
    expect((await ask(board.address, '/', { headers: { host: 'evil.example' } })).status).toBe(403)
  })
})

test('a port that is taken is said', async () => {
  await withBoard([file], async ({ address }) => {
    const { exitCode, output } = await cli(['board', '--port', new URL(address).port, file])
    expect(exitCode).toBe(1)
    expect(output).toContain('is taken (EADDRINUSE): name another with --port')
  })
})
