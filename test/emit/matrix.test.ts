import { describe, expect, test } from 'vitest'

import { categories } from '../../src/core/category.ts'
import { unsupported } from '../../src/core/support.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { explain } from '../../src/explain.ts'
import { supportMatrix } from '../../src/matrix.ts'
import { registry } from '../../src/registry.ts'

describe('the support matrix', () => {
  test('has a cell for every dialect and category, each with a level', () => {
    const cells = supportMatrix()
    expect(cells).toHaveLength(Object.keys(registry).length * categories.length)
    for (const { support } of cells)
      expect(['native', 'stronger', 'emulated', 'unsupported']).toContain(support.level)
  })

  test('says why, wherever it is not native', () => {
    for (const { support } of supportMatrix()) {
      if (support.level === 'unsupported') expect(support.reason && support.instead).toBeTruthy()
      else if (support.level !== 'native') expect(support.note).toBeTruthy()
    }
  })

  test('changes with the version of the server', () => {
    const level = (version: string): string | undefined =>
      supportMatrix([{ dialect: 'mysql', version }]).find(({ category }) => category === 'skip-locked')
        ?.support.level
    expect([level('5.7.44'), level('8.4')]).toEqual(['unsupported', 'native'])
  })

  test("takes a dialect of the user's own", () => {
    const ours: Dialect = {
      ...registry.postgres,
      name: 'cockroach',
      cells: { ...registry.postgres.cells, table: unsupported('no', 'none') },
    }
    const cells = supportMatrix([ours])
    expect(cells.find(({ category }) => category === 'table')).toMatchObject({
      dialect: 'cockroach',
      support: { level: 'unsupported' },
    })
  })
})

describe('explain', () => {
  test('shows a refusal as well as a plan', () => {
    expect(explain('sqlite', 'skip-locked')).toMatch(
      /^sqlite skip-locked: unsupported\n {2}why .*\n {2}instead /,
    )
    expect(explain('postgres', 'nowait', {})).toContain('FOR UPDATE NOWAIT')
  })
})
