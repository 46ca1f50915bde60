import { inject } from 'vitest'

import type { Statement } from '../../src/core/statement.ts'
import type { Engine, EngineSession } from '../engines/engine.ts'
import { loadEngine } from '../engines/engine-list.ts'
import { placeOf, readPage, type Fence } from './page.ts'
import { jsonLines, statementsIn } from './statements.ts'
import { enginesIn, type EngineName } from './words.ts'

/** A new database with the sample tables, and with what the page itself has set up. */
export async function openDatabase(engine: EngineName, setUp: readonly Fence[]): Promise<Engine> {
  const server = inject('engines').find(({ name }) => name === engine)?.server
  if (server === undefined) throw new Error(`${engine} is not here`)
  const database = await (await loadEngine(engine)).connect(server)
  try {
    const session = await database.open()
    const sample = (await sampleTables()).filter((fence) => isFor(fence, engine))
    for (const fence of sample) await apply(session, fence)
    const own = setUp.filter((fence) => isFor(fence, engine) && fence.page !== samplePage)
    for (const fence of own) await apply(session, fence, tablesIn(sample))
    await session.close()
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

export function isFor(fence: Fence, engine: EngineName): boolean {
  const named = enginesIn(fence)
  return named.length === 0 ? (fence.language === 'json') === (engine === 'mongodb') : named.includes(engine)
}

const samplePage = 'docs/sample-tables.md'
let sampleRead: Promise<readonly Fence[]> | undefined

function sampleTables(): Promise<readonly Fence[]> {
  sampleRead ??= readPage(samplePage).then(({ fences }) =>
    fences.filter(({ words }) => words.includes('setup')),
  )
  return sampleRead
}

/** Runs a block. A table that it makes takes the place of the sample's. */
async function apply(session: EngineSession, fence: Fence, replaced: readonly string[] = []): Promise<void> {
  for (const statement of setUpStatements(fence)) {
    const [, table = ''] = 'sql' in statement ? (CREATE.exec(statement.sql) ?? []) : []
    try {
      if (replaced.includes(table)) await session.run({ sql: `DROP TABLE ${table}`, params: [] })
      await session.run(statement)
    } catch (error) {
      const text = 'sql' in statement ? statement.sql : JSON.stringify(statement.command)
      throw new Error(`${placeOf(fence)}: ${String(error)}\n  in: ${text}`, { cause: error })
    }
  }
}

const CREATE = /^CREATE TABLE (\w+)/i

function tablesIn(fences: readonly Fence[]): readonly string[] {
  return fences.flatMap(({ text }) => statementsIn(text).flatMap((sql) => CREATE.exec(sql)?.[1] ?? []))
}

function setUpStatements({ language, text }: Fence): readonly Statement[] {
  return language === 'json'
    ? jsonLines(text).map((line) => ({ command: JSON.parse(line) as Record<string, unknown> }))
    : statementsIn(text).map((sql) => ({ sql, params: [] }))
}
