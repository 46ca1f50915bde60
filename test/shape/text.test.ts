import { describe, expect, test } from 'vitest'

import { planted } from './source.ts'
import { anyProblems, dialectNameProblems, lengthProblems } from './text.ts'

describe('the check of text', () => {
  const names = ['postgres', 'mysql']

  test('finds a dialect by name in a string, a template, a type, a comparison and a property', () => {
    const lines = [
      `export type Name = 'postgres'`,
      `export const isOurs = (name: string) => name === 'mysql'`,
      'export const text = `for mysql only`',
      `export const one = registry.postgres`,
    ]
    const found = dialectNameProblems(planted('src/emit.ts', ...lines), names)
    expect(found).toEqual([
      'src/emit.ts:1 names postgres',
      'src/emit.ts:2 names mysql',
      'src/emit.ts:3 names mysql',
      'src/emit.ts:4 names postgres',
    ])
  })

  test('finds the name of another dialect inside a dialect', () => {
    expect(
      dialectNameProblems(
        planted('src/dialects/mysql/row.ts', `export const a = ['mysql', 'postgres']`),
        names,
      ),
    ).toEqual(['src/dialects/mysql/row.ts:1 names postgres'])
  })

  test('leaves alone comments, imports, longer words, the registry, an entry and an adapter that is called the same', () => {
    const innocent = planted(
      'src/emit.ts',
      `import { x } from './dialects/mysql/row.ts'`,
      '/** as on postgres */',
      `x('mysqlish', 'my sql')`,
    )
    const registered = planted('src/registry.ts', `export const registry = { mysql: 'mysql' }`)
    const adapter = planted('src/adapters/mysql/sessions.ts', `export const dialect = 'mysql'`)
    const ofAdapter = planted('src/adapters/mysql/pool.ts', `export const dialect = 'mysql'`)
    const entry = planted('src/entries/driver.ts', `export const dialects = ['mysql', 'postgres']`)
    expect(
      [innocent, registered, adapter, ofAdapter, entry].flatMap((source) =>
        dialectNameProblems(source, names),
      ),
    ).toEqual([])
  })

  test('finds any, and only as a type', () => {
    expect(
      anyProblems(planted('src/a.ts', '// any', `export const any = 'any'`, 'export let x: readonly any[]')),
    ).toEqual(['src/a.ts:3 says any'])
  })

  test('counts lines', () => {
    const lines = Array.from({ length: 300 }, () => '')
    expect(lengthProblems(planted('src/a.ts', ...lines, ''))).toEqual([])
    expect(lengthProblems(planted('src/a.ts', ...lines, 'x', ''))).toEqual([
      'src/a.ts has 301 lines; 300 are the most',
    ])
  })
})
