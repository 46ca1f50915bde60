import { describe, expect, test } from 'vitest'

import { categories } from '../../src/core/category.ts'
import type { SqlStatement } from '../../src/core/statement.ts'
import { emit } from '../../src/emit.ts'
import { explain } from '../../src/explain.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { cli } from './terminal.ts'

const dialects = Object.keys(registry) as DialectName[]

interface Explained {
  readonly dialect: string
  readonly version: string
  readonly locks: readonly Record<string, unknown>[]
}

async function text(...args: readonly string[]): Promise<string> {
  const { output, exitCode } = await cli(['explain', ...args])
  expect(exitCode).toBe(0)
  return output
}

async function json(...args: readonly string[]): Promise<Explained> {
  return JSON.parse(await text(...args, '--format', 'json')) as Explained
}

describe('holdfast explain', () => {
  test.each(dialects)('shows for %s what the library itself says of each category', async (dialect) => {
    const page = await text(dialect)
    expect(page).toMatch(new RegExp(`^${registry[dialect].title} `))
    for (const category of categories) {
      expect(page).toContain(explain(dialect, category))
      expect(await text(dialect, category)).toContain(explain(dialect, category))
    }
  })

  test.each(dialects)('gives for %s the plans as JSON, refusals included', async (dialect) => {
    const { locks } = await json(dialect)
    expect(locks.map(({ category }) => category)).toEqual(categories)
    expect(locks.filter(({ support }) => support === undefined)).toEqual([])
  })

  test('gives a plan as JSON, with numbers of 64 bits as text', async () => {
    const { params } = emit('postgres', 'advisory', { key: ['report', 7] }).inTransaction[0] as SqlStatement
    const { dialect, version, locks } = await json('postgres@16.2', 'advisory')
    expect({ dialect, version }).toEqual({ dialect: 'postgres', version: '16.2' })
    expect(locks).toMatchObject([{ inTransaction: [{ params: params.map(String) }] }])
  })

  test('as Markdown has a heading, the meaning and a block for each category', async () => {
    const page = await text('sqlite', '--format', 'markdown')
    expect(page.match(/^## .*$/gm)).toEqual(categories.map((category) => `## ${category}`))
    expect(page.match(/^```text$/gm)).toHaveLength(categories.length)
    expect(page).toContain('an advisory lock: a lock on a name, not on a row')
  })

  test('a lock that is refused is an answer', async () => {
    expect(await text('duckdb', 'table')).toMatch(/unsupported\n +why +DuckDB.*\n +instead +\S/)
    expect(await text('sqlite', 'row-exclusive', '--exact')).toMatch(/unsupported\n +why +only a lock/)
  })

  test('another version may answer otherwise', async () => {
    expect(await text('mysql@8.4.3', 'skip-locked')).toContain('SKIP LOCKED')
    expect(await text('mysql@5.7.44', 'skip-locked')).toContain('unsupported')
  })

  test.each([
    [['postgres', 'row-exclusive', '--wait', 'nowait'], /FOR UPDATE NOWAIT/],
    [['postgres', 'row-exclusive', '--wait', 'skip'], /FOR UPDATE SKIP LOCKED/],
    [['postgres', 'row-exclusive', '--wait', '750'], /at most 750 ms[^]*lock_timeout = 750/],
    [['postgres', 'nowait', '--mode', 'shared'], /FOR SHARE NOWAIT/],
    [
      ['postgres', 'row-exclusive', '--table', 'app.order', '--id', '12'],
      /"app"\."order" WHERE "id" = \$1.*\[12\]/,
    ],
    [['postgres', 'row-exclusive', '--id', 'x7'], /\["x7"\]/],
    [['postgres', 'row-exclusive', '--id', '9007199254740993'], /\[9007199254740993\]/],
    [['postgres', 'table', '--table', 'job'], /LOCK TABLE "job"/],
    [['postgres', 'advisory', '--scope', 'session'], /pg_advisory_lock\([^]*pg_advisory_unlock\(/],
    [['mongodb', 'advisory', '--scope', 'session'], /"owner"/],
    [['mysql', 'advisory', '--key', 'upload/42'], /hf:upload\.42:/],
    [['postgres', 'row-shared', '--isolation', 'serializable'], /row-shared/],
  ])('%j says what is asked', async (args, expected) => {
    expect(await text(...args)).toMatch(expected)
  })

  test('a part of a key that is digits is a number, as in code', async () => {
    const [plan] = (await json('postgres', 'advisory', '--key', 'upload/42')).locks
    const same = emit('postgres', 'advisory', { key: ['upload', 42] })
    expect(JSON.stringify(plan)).toContain(String((same.inTransaction[0] as SqlStatement).params[0]))
  })

  test('what steers a screen is shown, not sent to it', async () => {
    expect(await text('postgres', 'table', '--table', 'a\u001b[2Jb')).toContain('"a␛[2Jb"')
  })

  test.each([
    ['no dialect', [], /name a dialect/],
    ['an unknown dialect', ['oracle'], /"oracle" is not a dialect; use one of postgres, mysql, mariadb/],
    ['what every object has', ['constructor', 'table'], /"constructor" is not a dialect/],
    ['a version that is none', ['postgres@new'], /no version number in "new"/],
    ['an empty version', ['postgres@'], /no version number/],
    [
      'an unknown category',
      ['postgres', 'rows'],
      /"rows" is not a category; use one of row-exclusive, row-shared/,
    ],
    ['two categories', ['postgres', 'table', 'nowait'], /one category at a time/],
    [
      'an unknown format',
      ['postgres', '--format', 'xml'],
      /--format: "xml" is not one of text, json, markdown/,
    ],
    ['an unknown way to wait', ['postgres', 'table', '--wait', 'long'], /--wait: "long" is none of block/],
    ['a wait of no time', ['postgres', 'table', '--wait', '0'], /not a number of milliseconds/],
    ['an unknown mode', ['postgres', 'table', '--mode', 'both'], /mode: "both" is not one of/],
    ['an unknown isolation', ['postgres', 'table', '--isolation', 'full'], /isolation: "full" is not one of/],
    ['a contradiction', ['postgres', 'nowait', '--wait', 'block'], /nowait contradicts "block"/],
    ['an option of another category', ['postgres', 'table', '--key', 'a'], /--key: table has none; it takes/],
    ['an option that fits not all categories', ['postgres', '--wait', '5'], /--wait: name the category/],
    ['an empty part of a key', ['postgres', 'advisory', '--key', 'a//b'], /key\[1\]: is empty/],
    ['an empty part of a table', ['postgres', 'table', '--table', 'a.'], /"" is not a name/],
  ])('given %s, says so, shows the usage and ends with 2', async (_, args, message) => {
    const answer = await cli(['explain', ...args])
    expect(answer.text).toMatch(message)
    expect(answer.text).toContain('Usage: holdfast explain <dialect[@version]> [category]')
    expect(answer.exitCode).toBe(2)
  })
})
