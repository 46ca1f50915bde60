import { stripVTControlCharacters } from 'node:util'

import { describe, expect, test } from 'vitest'

import { renderInspection } from '../../src/cli/inspect-render.ts'
import { duration } from '../../src/cli/duration.ts'
import { painterFor } from '../../src/cli/inspect-text.ts'
import { treeOf } from '../../src/cli/inspect-tree.ts'
import type { Inspection, LockSeen, SessionSeen } from '../../src/core/inspection.ts'

const row: LockSeen = { kind: 'row', mode: 'X', on: 'a row of app.account' }
const name: LockSeen = { kind: 'name', mode: 'ExclusiveLock', on: 'name 8412', key: 'image-upload.7' }

function holder(id: string, more: Partial<SessionSeen> = {}): SessionSeen {
  return { id, state: 'idle-in-transaction', transactionMs: 65_000, holds: [name], ...more }
}

function waiter(id: string, blockedBy: readonly string[], more: Partial<SessionSeen> = {}): SessionSeen {
  return { id, state: 'waiting', holds: [], waits: { lock: name, waitedMs: 1500, blockedBy }, ...more }
}

function seen(sessions: readonly SessionSeen[], more: Partial<Inspection> = {}): Inspection {
  return { dialect: 'some-database', version: '1.2.3', sessions, leases: [], unseen: [], ...more }
}

function render(inspection: Inspection, columns = 80): string {
  return `\n${renderInspection(inspection, { columns, paint: painterFor(false) })}`
}

describe('an inspection as text', () => {
  test('says that there is nothing to show', () => {
    expect(render(seen([]))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  nobody holds a lock or waits for one
      "
    `)
  })

  test('has a chain of three below one another', () => {
    const chain = [
      waiter('30', ['20'], { application: 'web', user: 'app', statement: 'SELECT 1' }),
      waiter('20', ['10'], { holds: [row] }),
      holder('10', { application: 'worker', user: 'app', statement: 'UPDATE account SET n = 1' }),
    ]
    expect(render(seen(chain))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  2 holders, 2 waiting

      10  worker  as app  idle in transaction for 1 min 5 s
      │  holds name image-upload.7 (ExclusiveLock)
      │  runs  UPDATE account SET n = 1
      └─ 20  waiting for 1 s
         │  wants name image-upload.7 (ExclusiveLock)
         │  holds a row of app.account (X)
         └─ 30  web  as app  waiting for 1 s
               wants name image-upload.7 (ExclusiveLock)
               runs  SELECT 1
      "
    `)
  })

  test('has a waiter below each of two holders, and whole only once', () => {
    const sessions = [
      holder('1'),
      holder('2'),
      waiter('3', ['1', '2']),
      waiter('4', ['3']),
      waiter('5', ['1']),
    ]
    expect(render(seen(sessions))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  2 holders, 3 waiting

      1  idle in transaction for 1 min 5 s
      │  holds name image-upload.7 (ExclusiveLock)
      ├─ 3  waiting for 1 s
      │  │  wants name image-upload.7 (ExclusiveLock)
      │  └─ 4  waiting for 1 s
      │        wants name image-upload.7 (ExclusiveLock)
      └─ 5  waiting for 1 s
            wants name image-upload.7 (ExclusiveLock)

      2  idle in transaction for 1 min 5 s
      │  holds name image-upload.7 (ExclusiveLock)
      └─ 3  waits for this one too: see elsewhere
      "
    `)
  })

  test('shows a circle once, and who waits for it below', () => {
    const sessions = [
      waiter('9', ['1']),
      waiter('1', ['2'], { holds: [row] }),
      waiter('2', ['1'], { holds: [name] }),
    ]
    expect(render(seen(sessions))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  2 holders, 3 waiting

      1  waiting for 1 s
      │  wants name image-upload.7 (ExclusiveLock)
      │  holds a row of app.account (X)
      ├─ 9  waiting for 1 s
      │     wants name image-upload.7 (ExclusiveLock)
      └─ 2  waiting for 1 s
         │  wants name image-upload.7 (ExclusiveLock)
         │  holds name image-upload.7 (ExclusiveLock)
         └─ 1  again: they wait for one another, a deadlock
      "
    `)
  })

  test('shows a session that waits for itself, or for somebody unseen', () => {
    expect(render(seen([waiter('1', ['1']), waiter('2', ['77']), waiter('3', [])]))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  0 holders, 3 waiting

      2  waiting for 1 s
         wants name image-upload.7 (ExclusiveLock)
         from  77, not shown here

      3  waiting for 1 s
         wants name image-upload.7 (ExclusiveLock)

      1  waiting for 1 s
      │  wants name image-upload.7 (ExclusiveLock)
      └─ 1  again: they wait for one another, a deadlock
      "
    `)
  })

  test('cuts a long statement to the width, and says where lines were left out', () => {
    const statement = `\n  SELECT ${'a, '.repeat(50)}b\n  FROM c`
    const text = render(
      seen([holder('1', { statement }), holder('2', { statement: 'SELECT 1\nFROM b' })]),
      40,
    )
    expect(text).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  2 holders, 0 waiting

      1  idle in transaction for 1 min 5 s
         holds name image-upload.7 (Exclusive…
         runs  SELECT a, a, a, a, a, a, a, a,…

      2  idle in transaction for 1 min 5 s
         holds name image-upload.7 (Exclusive…
         runs  SELECT 1 …
      "
    `)
    for (const line of text.split('\n').slice(2)) expect(Array.from(line).length).toBeLessThanOrEqual(40)
  })

  test('shows the first few of many locks, names before others', () => {
    const holds = [...Array.from({ length: 9 }, (_, n) => ({ ...row, on: `table t${n}` })), name]
    expect(render(seen([holder('1', { holds })]))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  1 holder, 0 waiting

      1  idle in transaction for 1 min 5 s
         holds name image-upload.7 (ExclusiveLock)
         holds table t0 (X)
         holds table t1 (X)
         holds table t2 (X)
         holds table t3 (X)
         holds table t4 (X)
               and 4 more
      "
    `)
  })

  test('has leases in columns, and notes at the end', () => {
    const leases = [
      { name: 'hl:a', key: 'nightly-report', owner: 'node-7', fence: 1_730_000_000_000, remainingMs: 29_400 },
      { name: 'hl:b', key: 'x', owner: undefined, fence: 2, remainingMs: -3_700_000 },
    ]
    const unseen = ['locks of other users (permission denied)', 'readers']
    expect(render(seen([], { leases, unseen }))).toMatchInlineSnapshot(`
      "
      some-database 1.2.3  0 holders, 0 waiting, 2 leases

        lease           owner   ends           fence
        nightly-report  node-7  in 29 s        1730000000000
        x               -       1 h 1 min ago  2

      Not seen:
        - locks of other users (permission denied)
        - readers
      "
    `)
  })

  test('never sends what a stranger wrote raw to the terminal', () => {
    const evil = 'a\u001b]0;title\u0007\u001b[2J\u009b31m\u202eb\u2028\0'
    const lock = { kind: 'row', mode: evil, on: evil, key: evil } as const
    const session = {
      ...holder(evil, { user: evil, application: evil, statement: `SELECT '${evil}\t1'`, holds: [lock] }),
      waits: { lock, blockedBy: [`${evil}?`] },
    }
    const leases = [{ name: evil, key: evil, owner: evil, fence: 1, remainingMs: 1 }]
    const text = render(seen([session], { dialect: evil, version: evil, leases, unseen: [evil] }), 300)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(text).toContain('␛[2J')
    expect(text).toContain(String.raw`\u{9b}31m\u{202e}b`)
  })

  test('has colours only where they are wanted', () => {
    const inspection = seen([holder('1'), waiter('2', ['1'])])
    const coloured = renderInspection(inspection, { columns: 80, paint: painterFor(true) })
    expect(coloured).toContain('\u001b[33m')
    expect(stripVTControlCharacters(coloured)).toBe(render(inspection).slice(1))
  })
})

test('a tree of sessions that all wait for all others ends', () => {
  const ids = Array.from({ length: 60 }, (_, n) => String(n))
  const tree = treeOf(ids.map((id) => waiter(id, ids)))
  expect(tree).toHaveLength(1)
})

test.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [1000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [185_000, '3 min 5 s'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [90_000_000, '1 d 1 h'],
  [-5, '0 ms'],
])('%d ms are told as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})
