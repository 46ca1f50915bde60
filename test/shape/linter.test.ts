import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

describe('the linter', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-lint-'))
    await copyFile(new URL('../../.oxlintrc.json', import.meta.url), join(folder, '.oxlintrc.json'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** The imports that the linter refuses in a file. */
  async function refused(path: string, imports: readonly string[]): Promise<readonly string[]> {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(
      join(folder, path),
      imports.map((name, i) => `import { x${i} } from '${name}'\n`).join(''),
    )
    const program = fileURLToPath(new URL('../../node_modules/oxlint/bin/oxlint', import.meta.url))
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [program, '--format=unix', path], { cwd: folder }, (_, text) =>
        resolve(text),
      )
    })
    const lines = output.split('\n').filter((line) => line.includes('no-restricted-imports'))
    return lines.map((line) => /'([^']+)' import is restricted/.exec(line)?.[1] ?? line).toSorted()
  }

  test.each([
    ['src/core/a.ts', ['../dialects/sql.ts', '../emit.ts', 'pg'], ['./b.ts', 'node:crypto']],
    [
      'src/dialects/sql.ts',
      ['../adapters/pg.ts', '../emit.ts', './x/index.ts', 'kysely'],
      ['../core/a.ts', './b.ts'],
    ],
    [
      'src/dialects/x/row.ts',
      ['../../emit.ts', '../y/index.ts', 'mysql2/promise'],
      ['../../core/a.ts', '../y/row.ts'],
    ],
    [
      'src/adapters/x.ts',
      ['../dialects/sql.ts', '../emit.ts', '../entries/x.ts', '@duckdb/node-api'],
      ['../core/a.ts', './y.ts'],
    ],
    [
      'src/locks/x.ts',
      ['../adapters/x.ts', '../entries/x.ts', 'pg'],
      ['../core/a.ts', '../dialects/dialect.ts', './y.ts'],
    ],
    ['src/entries/x.ts', ['../index.ts', 'pg'], ['../adapters/x.ts', '../locks.ts', '../locks/y.ts']],
    ['src/locks.ts', ['./entries/x.ts', 'pg'], ['./emit.ts', './locks/y.ts', './registry.ts']],
    ['src/emit.ts', ['./dialects/x/index.ts', './index.ts', 'mongodb'], ['./core/a.ts', './registry.ts']],
    ['src/registry.ts', ['better-sqlite3'], ['./dialects/x/index.ts', './core/a.ts']],
  ])('refuses imports against the direction in %s, and no others', async (path, wrong, right) => {
    expect(await refused(path, [...right, ...wrong])).toEqual(wrong)
  })
})
