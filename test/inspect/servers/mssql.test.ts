import { describe, expect, test } from 'vitest'

import { canonicalKey } from '../../../src/core/key.ts'
import { isSql, type Row } from '../../../src/core/statement.ts'
import { registry } from '../../../src/registry.ts'
import { tsqlParsers } from '../../emit/tsql-parsers.ts'

const parsers = await tsqlParsers()
const { inspector } = await registry.mssql.tools()
const questions = (['database', 'server'] as const).flatMap((scope) =>
  Object.entries(inspector.questions(scope, [16, 0, 0])).map(([title, { ask }]) => ({
    title: `${title} of the ${scope}`,
    text: isSql(ask) ? ask.sql : expect.unreachable(),
  })),
)

const session = (id: number, more: Row = {}): Row => ({
  id,
  user_name: 'app',
  application: 'shop',
  state: 'sleeping',
  open_transactions: 1,
  transaction_ms: 900,
  statement: 'UPDATE dbo.account SET n = 1',
  ...more,
})
const lock = (id: number, more: Row): Row => ({
  id,
  mode: 'X',
  status: 'GRANTED',
  description: '',
  entity: 72057594045333504n,
  database_name: 'app',
  schema_name: 'dbo',
  table_name: 'account',
  index_name: 'PK_account',
  locks: 1,
  ...more,
})

describe('the questions to SQL Server, which no server here answers', () => {
  test.each(questions)('$title is accepted by two independent parsers', ({ text }) => {
    const verdicts = parsers.map(({ name, problem }) => ({ name, problem: problem(text) }))
    const accepting = verdicts.filter(({ problem }) => problem === undefined)
    expect(accepting.length, JSON.stringify(verdicts)).toBeGreaterThanOrEqual(2)
  })

  test.each(questions)('$title is rejected by those parsers when its end is missing', ({ text }) => {
    const broken = text.replace(/ WHERE .*/s, ' WHERE (')
    expect(parsers.filter(({ problem }) => problem(broken) === undefined)).toEqual([])
  })

  test('ends a session by its number only', () => {
    expect(inspector.kill?.('53')).toEqual({ sql: 'KILL 53', params: [] })
    for (const id of ['53 WITH STATUSONLY', '-2', '']) expect(() => inspector.kill?.(id)).toThrow(/number/)
  })
})

describe('answers as Microsoft documents them', () => {
  test('a wait for a row is told with its holder, and without what says nothing', () => {
    const { sessions } = inspector.read({
      sessions: [session(51), session(52, { state: 'running' }), session(53)],
      locks: [
        lock(51, { type: 'KEY', locks: 2 }),
        lock(51, { type: 'OBJECT', mode: 'IX' }),
        lock(52, { type: 'KEY', mode: 'U', status: 'WAIT' }),
        lock(53, { type: 'DATABASE', mode: 'S' }),
      ],
      waits: [{ id: 52, wait_type: 'LCK_M_U', waited_ms: 1200, blocker: 51 }],
    })
    expect(sessions).toMatchObject([
      {
        id: '51',
        state: 'idle-in-transaction',
        application: 'shop',
        transactionMs: 900,
        holds: [{ kind: 'row', mode: 'X', on: '2 rows of dbo.account (index PK_account)' }],
      },
      {
        id: '52',
        state: 'waiting',
        waits: { lock: { kind: 'row', mode: 'U' }, waitedMs: 1200, blockedBy: ['51'] },
      },
    ])
  })

  test.each(['orders', 'a-key-of-more-than-28-letters-which-is-cut'])(
    'the key %s is told in clear',
    (key) => {
      const { name } = canonicalKey(key)
      const description = `0:[${name.slice(0, 32)}]:(8a2ee9bd)`
      const { sessions } = inspector.read({
        sessions: [session(51)],
        locks: [lock(51, { type: 'APPLICATION', description, entity: 0, table_name: null })],
      })
      expect(sessions[0]?.holds).toEqual([
        { kind: 'name', mode: 'X', on: `name ${name.slice(0, 32)} (8a2ee9bd)`, key: name.split(':')[1] },
      ])
    },
  )

  test('under optimized locking a row is told as its transaction, and the table beside it', () => {
    const { sessions } = inspector.read({
      sessions: [session(51), session(52)],
      locks: [
        lock(51, { type: 'XACT', description: '13:960012:0', table_name: null }),
        lock(51, { type: 'OBJECT', mode: 'IX', index_name: null }),
        lock(52, { type: 'XACT', mode: 'S', status: 'WAIT', description: '13:960012:0', table_name: null }),
      ],
      waits: [{ id: 52, wait_type: 'LCK_M_S_XACT_MODIFY', waited_ms: 5, blocker: 51 }],
    })
    expect(sessions[0]?.holds.map(({ kind, on }) => [kind, on])).toEqual([
      ['transaction', 'transaction 13:960012:0'],
      ['table', 'table dbo.account'],
    ])
    expect(sessions[1]?.waits).toMatchObject({ lock: { kind: 'transaction' }, blockedBy: ['51'] })
  })

  test('a transaction that nobody owns any more is told in words', () => {
    const { sessions } = inspector.read({
      sessions: [session(52)],
      locks: [lock(52, { type: 'OBJECT', mode: 'Sch-M', status: 'WAIT', index_name: null })],
      waits: [{ id: 52, wait_type: 'LCK_M_SCH_M', waited_ms: 5, blocker: -2 }],
    })
    expect(sessions[0]?.waits?.blockedBy).toEqual(['an orphaned distributed transaction'])
  })
})
