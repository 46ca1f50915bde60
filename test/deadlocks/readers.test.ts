import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { DeadlockClues, DeadlockFound, DeadlockReader } from '../../src/dialects/tools.ts'
import { registry, type DialectName } from '../../src/registry.ts'

const clues: DeadlockClues = { error: {}, sent: [], failed: undefined, own: undefined, sinceMs: 50 }
const readerOf = async (name: DialectName): Promise<DeadlockReader> => {
  const { deadlocks } = await registry[name].tools()
  return deadlocks ?? expect.unreachable()
}

/** As InnoDB of MySQL 5.7 writes it, which tells less. */
const report = (thread: number, at = '09:00:05'): string => `
=====================================
2026-11-17 09:00:06 0x7f INNODB MONITOR OUTPUT
=====================================
------------------------
LATEST DETECTED DEADLOCK
------------------------
2026-11-17 ${at} 0x7f
*** (1) TRANSACTION:
TRANSACTION 31, ACTIVE 0 sec starting index read
LOCK WAIT 4 lock struct(s), heap size 1128, 2 row lock(s)
MySQL thread id 5, OS thread handle 140, query id 13 127.0.0.1 root updating
update orders set n = 2
*** (1) WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 72 index PRIMARY of table \`app\`.\`orders\` trx id 31 lock_mode X waiting
*** (2) TRANSACTION:
TRANSACTION 32, ACTIVE 0 sec
MySQL thread id ${thread}, OS thread handle 140, query id 16 localhost root updating
update stock set n = 1
*** (2) HOLDS THE LOCK(S):
RECORD LOCKS space id 5 page no 3 n bits 72 index PRIMARY of table \`app\`.\`orders\` trx id 32 lock_mode X
*** (2) WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 6 page no 3 n bits 72 index PRIMARY of table \`app\`.\`stock\` trx id 32 lock_mode X waiting
*** WE ROLL BACK TRANSACTION (2)
------------
TRANSACTIONS
------------
`

describe('the report of InnoDB', () => {
  const read = async (text: string): Promise<DeadlockFound> =>
    (await readerOf('mysql')).read({ self: [{ id: 7 }], report: [{ Status: text }] }, clues)

  test('is taken when it is of the asker, and of now', async () => {
    const { sessions, unseen } = await read(report(7))
    expect(unseen).toEqual([])
    expect(sessions.map(({ id, isVictim, user }) => [id, isVictim, user])).toEqual([
      ['5', false, 'root'],
      ['7', true, 'root'],
    ])
    expect(sessions[1]?.holds.map(({ on }) => on)).toEqual(['a row of app.orders (index PRIMARY)'])
  })

  test.each([
    ['of another session', report(8)],
    ['of long before', report(7, '08:59:00')],
    ['without a deadlock', report(7).replace('LATEST DETECTED DEADLOCK', 'NONE')],
  ])('%s is not taken, and that is said', async (_, text) => {
    expect(await read(text)).toEqual({ sessions: [], unseen: [expect.stringMatching(/another deadlock/)] })
  })

  describe('of MariaDB', () => {
    const victims = ({ sessions }: Pick<DeadlockFound, 'sessions'> = { sessions: [] }): readonly unknown[] =>
      sessions.map(({ id, isVictim }) => [id, isVictim])
    const wrong = (text: string): string =>
      text
        .replaceAll('MySQL thread', 'MariaDB thread')
        .replace('BACK TRANSACTION (2)', 'BACK TRANSACTION (1)')
    const lostOn = async (version: string, text: string): Promise<DeadlockFound> =>
      (await readerOf('mariadb')).read({ self: [{ id: 7, version }], report: [{ Status: text }] }, clues)
    const latestOn = async (version: string) =>
      (await readerOf('mariadb')).latest.read({
        server: [{ version }],
        report: [{ Status: wrong(report(7)) }],
      })

    test.each([
      '10.6.0-MariaDB',
      '10.11.18-MariaDB-0+deb12u1',
      '5.5.5-10.11.18-MariaDB',
      '11.8.6-MariaDB',
      '',
    ])('names a victim on which %s is not to be relied', async (version) => {
      const lost = await lostOn(version, wrong(report(7)))
      expect([victims(lost), lost.unseen]).toEqual([
        [
          ['5', false],
          ['7', true],
        ],
        [],
      ])
      expect((await lostOn(version, wrong(report(8)))).unseen).toEqual([expect.stringMatching(/another/)])
      const { deadlocks, unseen } = await latestOn(version)
      expect(victims(deadlocks[0])).toEqual([
        ['5', false],
        ['7', false],
      ])
      expect(unseen).toContainEqual(expect.stringMatching(/^who was the victim: MariaDB names the wrong one/))
    })

    test.each(['10.5.29-MariaDB', '10.11.19-MariaDB'])('names the right one on %s', async (version) => {
      expect((await lostOn(version, wrong(report(7)))).unseen).toEqual([expect.stringMatching(/another/)])
      const { deadlocks, unseen } = await latestOn(version)
      expect(victims(deadlocks[0])).toEqual([
        ['5', true],
        ['7', false],
      ])
      expect(unseen).not.toContainEqual(expect.stringMatching(/victim/))
    })
  })
})

test('the detail of PostgreSQL tells names, tables and rows', async () => {
  const detail = [
    'Process 7 waits for ExclusiveLock on advisory lock [5,4294967295,4294967295,1]; blocked by process 8.',
    'Process 8 waits for AccessShareLock on relation 16385 of database 5; blocked by process 9.',
    'Prozess 9 wartet auf ShareLock-Sperre auf Transaktion 730; blockiert von Prozess 7.',
  ].join('\n')
  const reader = await readerOf('postgres')
  const asked = { ...clues, error: { detail }, sinceMs: 50 }
  expect(Object.keys(reader.questions(asked))).toEqual(['activity', 'tables', 'relations'])
  const activity = [
    { id: '8', statement: 'lock table stock', statement_ms: 60, transaction_ms: 60 },
    { id: '9', statement: 'COMMIT', statement_ms: 40, transaction_ms: 60 },
  ]
  const relations = [{ relation: '16385', schema_name: 'public', relation_name: 'stock' }]
  const { sessions, unseen } = reader.read(
    { activity, relations, tables: [] },
    { ...asked, failed: 'select 7' },
  )
  expect(sessions.map(({ waits }) => waits?.lock.on)).toEqual([
    'name -1',
    'table public.stock',
    expect.stringContaining('7 had locked or changed'),
  ])
  // the last has gone on: what it runs now is not what it ran
  expect(sessions.map(({ statement }) => statement)).toEqual(['select 7', 'lock table stock', undefined])
  expect(unseen).toEqual([expect.stringContaining('what 9 ran')])
})

test('a deadlock graph of SQL Server, as Microsoft documents it', async () => {
  const graph = `<event name="xml_deadlock_report" timestamp="2026-11-17T09:00:00.000Z"><data><value><deadlock>
<victim-list><victimProcess id="p1"/></victim-list><process-list>
<process id="p1" spid="55" loginname="app" clientapp="shop"><executionStack/><inputbuf>UPDATE a SET n = 1 WHERE n &lt; 2</inputbuf></process>
<process id="p2" spid="56"><inputbuf>UPDATE b SET n = 1</inputbuf></process></process-list><resource-list>
<keylock objectname="app.dbo.a" indexname="PK_a" mode="X"><owner-list><owner id="p2" mode="X"/></owner-list><waiter-list><waiter id="p1" mode="U" requestType="wait"/></waiter-list></keylock>
<keylock objectname="app.dbo.b" indexname="PK_b" mode="X"><owner-list><owner id="p1" mode="X"/></owner-list><waiter-list><waiter id="p2" mode="U"/></waiter-list></keylock>
</resource-list></deadlock></value></data></event>`
  const reader = await readerOf('mssql')
  const { sessions } = reader.read({ self: [{ id: 55 }], graphs: [{ graph, ago_ms: 10 }] }, clues)
  expect(sessions[0]).toEqual({
    id: '55',
    isVictim: true,
    user: 'app',
    application: 'shop',
    waits: { lock: { kind: 'row', mode: 'U', on: 'a row of app.dbo.a (index PK_a)' }, blockedBy: ['56'] },
    holds: [{ kind: 'row', mode: 'X', on: 'a row of app.dbo.b (index PK_b)' }],
    statement: 'UPDATE a SET n = 1 WHERE n < 2',
  })
  const other = reader.read({ self: [{ id: 57 }], graphs: [{ graph, ago_ms: 10 }] }, clues)
  expect(other).toEqual({ sessions: [], unseen: [expect.stringContaining('system_health')] })
})

describe('garbage', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      ...report(7).split('\n'),
      '<process id="',
      '</process>',
      'Process 1 waits for XLock on [1,2,3,4]',
      '\n',
    ),
  )
  const text = fc.array(piece).map((pieces) => pieces.join('\n'))
  const value = fc.oneof(text, fc.anything())
  test.each(['postgres', 'mysql', 'mariadb', 'mssql'] as const)(
    'never makes the reader of %s throw',
    async (name) => {
      const reader = await readerOf(name)
      const row = fc.dictionary(
        fc.constantFrom('id', 'Status', 'graph', 'holder', 'name', 'statement', 'relation'),
        text,
      )
      const rows = fc.option(fc.array(row), { nil: undefined })
      const error = fc.record({ detail: value, where: value, sql: value, errno: value }, { requiredKeys: [] })
      fc.assert(
        fc.property(error, rows, fc.array(text), (made, answer, sent) => {
          const told = { ...clues, error: made, sent, failed: sent[0] }
          const names = [...Object.keys(reader.questions(told)), ...Object.keys(reader.latest.questions)]
          const replies = Object.fromEntries(names.map((question) => [question, answer]))
          reader.read(replies, told)
          reader.latest.read(replies)
          const asked = Object.values(reader.questions(told)).map(({ ask }) => JSON.stringify(ask))
          expect(asked.every((one) => !one.includes('NaN'))).toBe(true)
        }),
        { numRuns: 500 },
      )
    },
  )
})
