import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'

import { describe, expect, test } from 'vitest'

import { circlesIn } from '../../src/cli/board/circles.ts'
import { createClaimRate } from '../../src/cli/board/claim-rate.ts'
import { createDeadlockMemory } from '../../src/cli/board/deadlock-memory.ts'
import { isOwnHost, refusalOf } from '../../src/cli/board/guard.ts'
import { createHistory, historyMs, pointOf } from '../../src/cli/board/history.ts'
import type { Look, Point } from '../../src/cli/board/look.ts'
import { queuesIn } from '../../src/cli/board/queue-option.ts'
import { openStream } from '../../src/cli/board/stream.ts'
import { withoutStatements } from '../../src/cli/board/without-statements.ts'
import { linesOf, wholeOf } from '../../src/cli/board/page/lines.ts'
import { joined, pathOf } from '../../src/cli/board/page/points.ts'
import { wordsOf } from '../../src/cli/board/page/words.ts'
import type { SessionSeen } from '../../src/core/inspection.ts'
import { sessionNumber } from '../../src/dialects/inspect-id.ts'
import { registry } from '../../src/registry.ts'

function session(id: string, blockedBy?: readonly string[], more: Partial<SessionSeen> = {}): SessionSeen {
  const lock = { kind: 'name', mode: 'X', on: `name ${id}`, key: `key.${id}` } as const
  return blockedBy === undefined
    ? { id, state: 'active', holds: [lock], ...more }
    : { id, state: 'waiting', holds: [], waits: { lock, blockedBy, waitedMs: 10 }, ...more }
}

const empty: Look = {
  dialect: 'postgres',
  version: '15.0',
  sessions: [],
  leases: [],
  queues: [],
  deadlocks: { latest: [], unseen: [] },
  unseen: [],
  tookMs: 1,
}

const nothing = { search: '', key: '' }

describe('circles', () => {
  test('sessions that wait for one another are a circle, and those who wait for it are not in it', () => {
    const all = [session('1', ['2']), session('2', ['3']), session('3', ['1']), session('4', ['1'])]
    expect(circlesIn(all).map((circle) => circle.map(({ id }) => id))).toEqual([['1', '2', '3']])
  })

  test('a circle behind the second of two blockers is found', () => {
    const all = [session('1', ['9', '2']), session('2', ['1']), session('9', ['8']), session('8')]
    expect(circlesIn(all).map((circle) => circle.map(({ id }) => id))).toEqual([['1', '2']])
  })

  test('two circles are two', () => {
    const all = [session('1', ['2']), session('2', ['1']), session('3', ['4']), session('4', ['3'])]
    expect(circlesIn(all)).toHaveLength(2)
  })

  test('waiting in a line is no circle', () => {
    expect(circlesIn([session('1', ['2']), session('2', ['3']), session('3')])).toEqual([])
  })
})

describe('the memory of deadlocks', () => {
  const now = new Date('2026-01-02T03:04:05Z')
  const circle = [session('1', ['2']), session('2', ['1'])]
  const server = { dialect: 'x', version: '1', unseen: [] }

  test('a circle that is there for several looks is one deadlock, and one that comes again is another', () => {
    const memory = createDeadlockMemory()
    for (const sessions of [circle, circle, [], circle]) memory.see(sessions, now)
    expect(memory.seen().latest).toHaveLength(2)
    expect(memory.seen().latest[0]).toMatchObject({ from: 'seen', at: now.toISOString() })
  })

  test('what the server tells again and again is kept once, also when it has forgotten it', () => {
    const memory = createDeadlockMemory()
    const first = { dialect: 'x', at: 'monday', sessions: [], unseen: [] }
    const second = { ...first, at: 'tuesday' }
    for (const deadlocks of [[first], [first], [second], []]) memory.hear({ ...server, deadlocks }, now)
    expect(memory.seen().latest.map(({ at }) => at)).toEqual(['tuesday', 'monday'])
  })

  test('a count that rises is told, the first one is not, and one that was set back is none', () => {
    const memory = createDeadlockMemory()
    for (const counted of [7, 7, 9, 0, 1]) memory.hear({ ...server, deadlocks: [], counted }, now)
    expect(memory.seen().latest.map(({ count }) => count)).toEqual([1, 2])
    expect(memory.seen().counted).toBe(1)
  })
})

describe('the rate of claims', () => {
  test('counts jobs of claims that were not there before', () => {
    const rate = createClaimRate()
    expect(rate(new Map([['a', 5]]), 0)).toBeUndefined()
    expect(rate(new Map([['a', 5]]), 1000)).toBe(0)
    const tokens = new Map([
      ['a', 4],
      ['b', 3],
      ['c', 1],
    ])
    expect(rate(tokens, 2000)).toBe(2)
  })

  test('forgets what is older than ten seconds', () => {
    const rate = createClaimRate()
    rate(new Map(), 0)
    rate(new Map([['a', 100]]), 1000)
    expect(rate(new Map(), 15_000)).toBeUndefined()
    expect(rate(new Map(), 16_000)).toBe(0)
  })
})

describe('the history', () => {
  test('keeps ten minutes', () => {
    const history = createHistory()
    for (let at = 0; at <= historyMs * 2; at += 1000) history.add(pointOf(empty, at))
    expect(history.all()).toHaveLength(600)
    expect(history.all()[0]?.at).toBe(historyMs + 1000)
  })

  test('a clock that was set back leaves the points in order', () => {
    const history = createHistory()
    for (const at of [5000, 6000, 5500]) history.add(pointOf(empty, at))
    expect(history.all().map(({ at }) => at)).toEqual([5000, 5500])
  })

  test('a point has the figures of its look', () => {
    const sessions = [session('1'), session('2', ['1']), session('3', ['1'], { holds: [] })]
    const queue = { name: 'q', hasAge: false, claimsPerSecond: 2 }
    const look = { ...empty, sessions, queues: [queue, { ...queue, claimsPerSecond: 3 }] }
    expect(pointOf(look, 1)).toEqual({
      at: 1,
      waiting: 2,
      holding: 1,
      longestWaitMs: 10,
      leases: 0,
      claimsPerSecond: 5,
    })
  })
})

describe('where a request may come from', () => {
  const loopback = { host: '127.0.0.1', port: 4000 }

  test.each(['127.0.0.1:4000', 'localhost:4000', 'LOCALHOST:4000', '[::1]:4000'])(
    '%s is this machine',
    (host) => {
      expect(isOwnHost(host, loopback)).toBe(true)
    },
  )

  test.each([
    undefined,
    '',
    'evil.example:4000',
    '127.0.0.1',
    '127.0.0.1:4001',
    '127.0.0.1.evil.example:4000',
    'localhost:4000@evil.example',
    '192.168.1.5:4000',
  ])('%s is not', (host) => {
    expect(isOwnHost(host, loopback)).toBe(false)
  })

  test('a board for all machines is reached by a number, and by no name that somebody else may own', () => {
    const everywhere = { host: '0.0.0.0', port: 4000 }
    expect(isOwnHost('192.168.1.5:4000', everywhere)).toBe(true)
    expect(isOwnHost('evil.example:4000', everywhere)).toBe(false)
    expect(isOwnHost('board.example:4000', { host: 'board.example', port: 4000 })).toBe(true)
  })

  test('only this page with its token may change something', () => {
    const own = {
      host: '127.0.0.1:4000',
      origin: 'http://127.0.0.1:4000',
      'content-type': 'application/json',
      authorization: 'Bearer secret',
    }
    expect(refusalOf(own, 'secret')).toBeUndefined()
    expect(refusalOf({ ...own, origin: 'http://evil.example' }, 'secret')).toMatch('this page')
    expect(refusalOf({ ...own, origin: undefined }, 'secret')).toMatch('this page')
    expect(refusalOf({ ...own, 'content-type': 'text/plain' }, 'secret')).toMatch('JSON')
    expect(refusalOf({ ...own, authorization: 'Bearer other' }, 'secret')).toMatch('token')
    expect(refusalOf({ ...own, authorization: undefined }, 'secret')).toMatch('token')
  })
})

describe('what stands behind --queue', () => {
  const described = {
    table: 'job',
    id: 'id',
    orderBy: 'id',
    claim: { token: 'token', until: 'until' },
    done: 'delete',
  }

  test('is a description, or several, with names and the column of their age', () => {
    const [plain] = queuesIn(JSON.stringify(described))
    expect(plain).toMatchObject({ name: 'job', queue: { shape: { table: 'job' } } })
    expect(plain).not.toHaveProperty('stored')
    const two = queuesIn(
      JSON.stringify([
        { ...described, name: 'mails', storedAt: 'created_at' },
        { ...described, table: ['app', 'job'], storedAtMs: 'created_ms' },
      ]),
    )
    expect(two).toMatchObject([
      { name: 'mails', stored: { column: 'created_at', isMs: false } },
      { name: 'app.job', stored: { column: 'created_ms', isMs: true } },
    ])
  })

  test.each([
    ['{', 'JSON'],
    ['/no/such/file.json', 'neither JSON nor a file with JSON in it (ENOENT)'],
    [JSON.stringify({ ...described, id: 5 }), 'id'],
    [JSON.stringify({ ...described, colour: 'red' }), 'colour'],
    [JSON.stringify({ ...described, storedAt: 5 }), 'the name of a column'],
    [JSON.stringify({ ...described, storedAt: 'a', storedAtMs: 'b' }), 'give one of them'],
    ['[7]', 'table'],
  ])('%s is refused with a reason', (text, reason) => {
    expect(() => queuesIn(text)).toThrow(reason)
  })
})

describe('the lines of the tree', () => {
  const all = [
    session('1', undefined, { transactionMs: 5 }),
    session('2', undefined, { application: 'web <b>' }),
    session('3', ['2']),
    session('4', ['2', '3']),
  ]

  test('those come first for whom most wait, each with those behind it', () => {
    const lines = linesOf(all, nothing)
    expect(lines.map(({ session: { id }, depth, shown }) => [id, depth, shown])).toEqual([
      ['2', 0, 'whole'],
      ['3', 1, 'whole'],
      ['4', 2, 'whole'],
      ['4', 1, 'again'],
      ['1', 0, 'whole'],
    ])
    expect(lines[0]?.waiters).toBe(2)
    expect(wholeOf(lines)).toHaveLength(4)
    expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length)
  })

  test('what is searched for is shown below those it waits for', () => {
    expect(linesOf(all, { ...nothing, search: 'name 3' }).map(({ session: { id } }) => id)).toEqual([
      '2',
      '3',
    ])
    expect(linesOf(all, { ...nothing, search: 'WEB <B>' }).map(({ session: { id } }) => id)).toEqual(['2'])
    expect(linesOf(all, { ...nothing, search: 'nobody' })).toEqual([])
  })

  test('a key is looked for in locks alone', () => {
    expect(linesOf(all, { ...nothing, key: 'key.1' }).map(({ session: { id } }) => id)).toEqual(['1'])
    expect(linesOf(all, { ...nothing, key: 'web' })).toEqual([])
  })
})

describe('the graph', () => {
  const point = (at: number, waiting: number): Point => ({
    at,
    waiting,
    holding: 0,
    longestWaitMs: 0,
    leases: 0,
  })
  const pieces = (path: string): number => path.split('M').length - 1

  test('has a gap where nobody has looked', () => {
    const points = [point(0, 1), point(1000, 2), point(100_000, 3)]
    expect(pieces(pathOf(points, ({ waiting }) => waiting, 3))).toBe(2)
  })

  test('ends at its right edge, and leaves out what is older than ten minutes', () => {
    const path = pathOf([point(0, 1), point(700_000, 2)], ({ waiting }) => waiting, 2)
    expect(pieces(path)).toBe(1)
    expect(path).toContain('M600 ')
  })

  test('takes each point once', () => {
    const known = [point(1000, 1), point(2000, 1)]
    expect(joined(known, [point(2000, 1), point(3000, 1)]).map(({ at }) => at)).toEqual([1000, 2000, 3000])
    expect(joined(known, [point(700_000, 1)])).toHaveLength(1)
  })
})

describe('what is said of the figures', () => {
  const fine = { isPaused: false, hasBoard: true, lookedAt: 0, failure: undefined }

  test('nothing while they are new', () => {
    expect(wordsOf(fine, 1500)).toEqual({ kind: 'live', short: 'live', long: '' })
  })

  test('how old they are when the answer is late, when it failed, and when the board is gone', () => {
    expect(wordsOf(fine, 7300).long).toContain('7 s old')
    const failure = { message: 'cannot reach it', since: 2000 }
    expect(wordsOf({ ...fine, failure }, 9000).long).toMatch(/for 7 s: cannot reach it.*9 s old/)
    expect(wordsOf({ ...fine, hasBoard: false }, 9000).long).toMatch(/program.*9 s old/)
    expect(wordsOf({ ...fine, isPaused: true }, 9000).long).toMatch(/Paused.*9 s old/)
  })
})

/** A connection that takes what it is given when it is told to. */
class SlowResponse extends EventEmitter {
  writableNeedDrain = false
  readonly sent: string[] = []
  write(text: string): boolean {
    this.sent.push(text)
    this.writableNeedDrain = true
    return false
  }
  drain(): void {
    this.writableNeedDrain = false
    this.emit('drain')
  }
}

test('a slow page is told the newest, and skips what came between', () => {
  const response = new SlowResponse()
  const stream = openStream(response as unknown as ServerResponse)
  for (const number of ['1', '2', '3', '4']) stream.tell('news', number)
  expect(response.sent).toEqual(['event: news\ndata: 1\n\n'])
  response.drain()
  expect(response.sent).toEqual(['event: news\ndata: 1\n\n', 'event: news\ndata: 4\n\n'])
  response.drain()
  expect(response.sent).toHaveLength(2)
})

test('with --no-statements no statement is left', () => {
  const sessions = [session('1', undefined, { statement: 'SELECT secret' })]
  const party = { id: '1', isVictim: true, holds: [], statement: 'SELECT secret', ran: ['secret'] }
  const deadlocks = { latest: [{ from: 'seen', sessions: [party] }], unseen: [] } as const
  const quiet = withoutStatements({ ...empty, sessions, deadlocks })
  expect(quiet.sessions).toHaveLength(1)
  expect(quiet.deadlocks.latest[0]?.sessions).toHaveLength(1)
  expect(JSON.stringify(quiet)).not.toContain('secret')
})

describe('how a session is ended', () => {
  test('is written with its number and nothing else', async () => {
    const said = async (name: keyof typeof registry): Promise<unknown> => {
      const { inspector } = await registry[name].tools()
      return [inspector.cancel?.('12'), inspector.kill?.('12')]
    }
    expect(await said('postgres')).toEqual([
      { sql: 'SELECT pg_cancel_backend($1::int) AS done', params: [12] },
      { sql: 'SELECT pg_terminate_backend($1::int) AS done', params: [12] },
    ])
    const ofMysql = [
      { sql: 'KILL QUERY 12', params: [] },
      { sql: 'KILL CONNECTION 12', params: [] },
    ]
    expect(await said('mysql')).toEqual(ofMysql)
    expect(await said('mariadb')).toEqual(ofMysql)
    // this has run on no SQL Server
    expect(await said('mssql')).toEqual([undefined, { sql: 'KILL 12', params: [] }])
    expect(await said('sqlite')).toEqual([undefined, undefined])
    expect(await said('duckdb')).toEqual([undefined, undefined])
    const { inspector } = await registry.mongodb.tools()
    expect(inspector.cancel?.('operation 12')).toEqual({ database: 'admin', command: { killOp: 1, op: 12 } })
    expect(() => inspector.cancel?.('3f2c')).toThrow('killSessions')
  })

  test.each(['', '0', '-1', '1 OR 1=1', '1;DROP TABLE x', '0x1', '１', '1\n'])('%j is no session', (id) => {
    expect(() => sessionNumber(id)).toThrow('is not the number of a session')
  })
})
