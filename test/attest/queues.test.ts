import { afterEach, expect, test } from 'vitest'

import type { Statement } from '../../src/core/statement.ts'
import { examineQueues } from '../../src/locks/attest/examine.ts'
import { describeAttest, findingIn, type Stage } from './stage.ts'

const quotes: Readonly<Record<string, string>> = { mysql: '`', mariadb: '`' }

/** Makes a table, or a collection, with these indexes. */
function tableOf(
  { name }: Stage,
  table: string,
  indexes: readonly (readonly string[])[],
): readonly Statement[] {
  if (name === 'mongodb') {
    const keys = indexes.map((columns, place) => ({
      name: `index${place}`,
      key: Object.fromEntries(columns.map((column) => [column, 1])),
    }))
    return [
      { command: { create: table } },
      ...(keys.length === 0 ? [] : [{ command: { createIndexes: table, indexes: keys } }]),
    ]
  }
  const mark = quotes[name] ?? '"'
  const quote = (text: string): string => mark + text.replaceAll(mark, mark + mark) + mark
  const columns = ['id', 'state', 'run at', 'n'].map((column) => `${quote(column)} int`)
  return [
    `create table ${quote(table)} (${columns.join(', ')})`,
    ...indexes.map(
      (parts, place) =>
        `create index ${quote(`${place}_${table.length}`)} on ${quote(table)} (${parts.map(quote).join(', ')})`,
    ),
  ].map((sql) => ({ sql, params: [] }))
}

function dropOf({ name }: Stage, table: string): Statement {
  if (name === 'mongodb') return { command: { drop: table } }
  const mark = quotes[name] ?? '"'
  return { sql: `drop table ${mark}${table.replaceAll(mark, mark + mark)}${mark}`, params: [] }
}

describeAttest(
  (stage) => {
    const made: string[] = []
    afterEach(async () => {
      for (const table of made.splice(0)) await stage.run(dropOf(stage, table))
    })
    const make = async (table: string, ...indexes: readonly (readonly string[])[]): Promise<void> => {
      await stage.run(...tableOf(stage, table, indexes))
      made.push(table)
    }
    const ask = async (table: string, ...columns: readonly string[]): Promise<readonly string[]> => {
      const session = await stage.sessions().open()
      try {
        const { dialect } = stage
        const { examination } = await dialect.tools()
        const server = { dialect, version: dialect.readVersion(dialect.versions.assumed) }
        const findings = await examineQueues({ session, server, examination }, [{ table, columns }])
        return findings.map(({ id }) => id)
      } finally {
        await session.release()
      }
    }

    test('a queue whose index begins with its columns is well, and another is not', async () => {
      await make('jobs', ['n'], ['state', 'run at', 'n'])
      expect(await ask('jobs', 'state', 'run at')).toEqual([])
      expect(await ask('jobs', 'state', 'run at', 'n')).toEqual([])
      expect(await ask('jobs', 'n')).toEqual([])
      expect(await ask('jobs', 'run at', 'state')).toEqual(['queue-index-missing'])
      expect(await ask('jobs', 'state', 'n')).toEqual(['queue-index-missing'])
      expect(await ask('jobs', 'state', 'run at', 'n', 'id')).toEqual(['queue-index-missing'])
    })

    test('a table without any index, and one that is not there, are told apart', async () => {
      await make('bare')
      expect(await ask('bare', 'state')).toEqual(['queue-index-missing'])
      const missing = await stage.locks().attest({ queues: [{ table: 'nowhere', columns: ['state'] }] })
      expect(findingIn(missing, 'queue-table-missing')).toMatchObject({
        severity: 'error',
        title: expect.stringContaining('"nowhere"'),
      })
    })

    test.each([`o'brien`, 'back`tick', 'dou"ble', "x'; drop table jobs; --", '[brackets]', 'percent%'])(
      'a name such as %s is a name and nothing else',
      async (table) => {
        expect(await ask(table, 'state')).toEqual(['queue-table-missing'])
        await make(table, ['state'])
        expect(await ask(table, 'state')).toEqual([])
        expect(await ask(table, "n'`")).toEqual(['queue-index-missing'])
      },
    )
  },
  { isWanted: (title) => !/kysely|one handle/.test(title) },
)
