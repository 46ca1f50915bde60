import { describe, expect, test } from 'vitest'

import { cycles, directionProblems } from './imports.ts'
import { planted } from './source.ts'

describe('the check of imports', () => {
  const wrong: readonly (readonly [string, string, string])[] = [
    ['src/core/plan.ts', `import { emit } from '../emit.ts'`, 'core imports nothing outside core'],
    [
      'src/core/plan.ts',
      `import type { Plan } from '../dialects/dialect.ts'`,
      'core imports nothing outside core',
    ],
    [
      'src/core/plan.ts',
      `export const load = () => import('../emit.ts')`,
      'core imports nothing outside core',
    ],
    ['src/dialects/sql.ts', `import { registry } from '../registry.ts'`, 'dialects import core and dialects'],
    [
      'src/dialects/a/row.ts',
      `export { pg } from '../../adapters/pg.ts'`,
      'dialects import core and dialects',
    ],
    ['src/dialects/a/row.ts', `import { b } from '../b/index.ts'`, 'no dialect takes another as a whole'],
    [
      'src/adapters/pg.ts',
      `import { emit } from '../emit.ts'`,
      'adapters import core, and only types from elsewhere',
    ],
    ['src/adapters/pg.ts', `import { type Plan } from '../emit.ts'`, 'adapters import core, and only types'],
    ['src/adapters/pg.ts', `import type { Pool } from 'pg'`, 'src imports no package'],
    ['src/adapters/pg.ts', `export type Pool = import('pg').Pool`, 'src imports no package'],
    ['src/locks/rows.ts', `import { sessions } from '../adapters/pg.ts'`, 'algorithms know no adapter'],
    ['src/locks/rows.ts', `import { sessions } from '../coordinators/a.ts'`, 'algorithms know no adapter'],
    [
      'src/coordinators/a.ts',
      `import { meet } from '../locks.ts'`,
      'coordinators import core, and only types from elsewhere',
    ],
    ['src/locks.ts', `import { createLocks } from './entries/pg.ts'`, 'nobody imports an entry'],
    ['src/locks.ts', `import { openUrl } from './connect/open.ts'`, 'only commands, laws and entries'],
    ['src/connect/open.ts', `import { runCli } from '../cli/run.ts'`, 'knows no command'],
    ['src/connect/open.ts', `import { laws } from '../conformance/laws.ts'`, 'runs no law'],
    [
      'src/entries/pg.ts',
      `import { row } from '../dialects/a/row.ts'`,
      'only the registry and the entries take a dialect',
    ],
    [
      'src/emit.ts',
      `import { row } from './dialects/a/row.ts'`,
      'only the registry and the entries take a dialect',
    ],
    ['src/emit.ts', `import { a } from './dialects/a/index.ts'`, 'only the registry and the entries'],
    ['src/emit.ts', `export * from './index.ts'`, 'nobody imports the index'],
    ['src/emit.ts', `import 'mysql2/promise'`, 'src imports no package'],
  ]

  test.each(wrong)('finds what is wrong in %s: %s', (path, line, problem) => {
    expect(directionProblems([planted(path, line)])).toEqual([expect.stringContaining(problem)])
  })

  test('finds nothing in what is allowed, nor in a comment', () => {
    const right = [
      planted(
        'src/core/a.ts',
        `import { b } from './b.ts'`,
        `import { createHash } from 'node:crypto'`,
        `// from '../emit.ts'`,
      ),
      planted(
        'src/entries/pg.ts',
        `import { sessions } from '../adapters/pg.ts'`,
        `import { joinLocks } from '../locks.ts'`,
        `import { a } from '../dialects/a/index.ts'`,
      ),
      planted(
        'src/dialects/a/index.ts',
        `import { row } from '../b/row.ts'`,
        `import { x } from '../../core/x.ts'`,
      ),
      planted(
        'src/adapters/pg.ts',
        `import type { Plan } from '../emit.ts'`,
        `import { x } from '../core/x.ts'`,
      ),
      planted('src/registry.ts', `import { a } from './dialects/a/index.ts'`),
    ]
    expect(directionProblems(right)).toEqual([])
  })

  test('finds a circle, also of types, and names its files once', () => {
    const circle = [
      planted('src/core/a.ts', `import { b } from './b.ts'`),
      planted('src/core/b.ts', `import type { C } from './c.ts'`),
      planted('src/core/c.ts', `export { a } from './a.ts'`),
    ]
    expect(cycles(circle)).toEqual(['src/core/a.ts -> src/core/b.ts -> src/core/c.ts -> src/core/a.ts'])
    expect(cycles(circle.slice(0, 2))).toEqual([])
  })
})
