import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Row, Statement, Value } from '../../src/core/statement.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { valueTables, type ValueTable } from './sql-values.ts'
import { subjects, type Connected, type Subject } from './subject.ts'

const written = {
  txt: `it's "quoted" \\ and 日本 😀`,
  big: 9_007_199_254_740_993n,
  num: 1.5,
  flag: true,
  day: new Date('2024-02-29T12:34:56.789Z'),
  bin: new Uint8Array([0, 1, 255, 39, 92]),
  absent: null,
} satisfies Record<string, Value>

for (const subject of subjects) {
  const only = subject.engines.filter((name) => name in valueTables)
  describe.skipIf(only.length === 0)(subject.title, () => {
    describeEngines((context) => specs(subject, context), { only })
  })
}

function specs(subject: Subject, context: EngineContext): void {
  const table = valueTables[context.name] as ValueTable
  let connected: Connected
  const run = async (statement: Statement): Promise<readonly Row[]> => {
    const session = await connected.sessions.open()
    return session.run(statement).finally(() => session.release())
  }
  beforeAll(async () => {
    connected = await subject.connect(context.engine.server.url)
    await run(table.create)
    await run(table.insert(Object.values(written)))
  })
  afterAll(() => connected.close())

  test('values of every kind arrive as they were given', async () => {
    const [row] = await run(table.find('txt', written.txt))
    expect(row?.txt).toBe(written.txt)
    expect(row?.big).toBe(String(written.big))
    expect(row?.num).toBe(written.num)
    expect(Number(row?.flag)).toBe(1)
    expect(new Date(row?.day as string | Date)).toEqual(written.day)
    expect(new Uint8Array(row?.bin as Uint8Array)).toEqual(written.bin)
    expect(row?.absent).toBeNull()
  })

  test.each(['txt', 'big', 'num', 'flag', 'day', 'bin'] as const)(
    'a row is found by its value in %s',
    async (column) => {
      expect(await run(table.find(column, written[column]))).toHaveLength(1)
    },
  )

  test('nothing is found by null', async () => {
    expect(await run(table.find('absent', null))).toEqual([])
  })

  test('a statement that gives no rows answers with none', async () => {
    const other = { txt: 'a second row', big: 1n, num: 2, flag: false, day: null, bin: null, absent: null }
    expect(await run(table.insert(Object.values(other)))).toEqual([])
  })
}
