import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'

import type { OrderEdge } from '../../src/watch/order-graph.ts'
import { cli } from '../cli/terminal.ts'
import { describeEngines } from '../engines/use.ts'

const child = fileURLToPath(new URL('order-child.ts', import.meta.url))

describeEngines(
  (context) => {
    let folder = ''
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'order-'))
      const session = await context.engine.open()
      for (const table of ['stock', 'orders']) {
        await session.run({ sql: `create table ${table} (id int primary key, n int)`, params: [] })
        await session.run({ sql: `insert into ${table} values (1, 0)`, params: [] })
      }
      await session.close()
    })

    const inProcess = async (name: string, ...tables: readonly string[]): Promise<string> => {
      const file = join(folder, `${name}.json`)
      const args = ['--import', 'tsx', child, context.engine.server.url, file, ...tables]
      await promisify(execFile)(process.execPath, args)
      return file
    }

    test('two processes that take locks in opposite orders are found out, with both places', async () => {
      const files = [await inProcess('one', 'stock', 'orders'), await inProcess('two', 'orders', 'stock')]
      const { text, exitCode } = await cli(['order', ...files])
      expect(exitCode).toBe(1)
      expect(text).toContain('  → table orders (test/watch/order-child.ts:')
      expect(text).toMatch(/lock order: table \w+ and then table \w+ \(.*order-child\.ts:.*; but table/)
      const drawn = await cli(['order', '--mermaid', ...files])
      expect([drawn.exitCode, drawn.text.includes('linkStyle 0 stroke:red')]).toEqual([1, true])
    })

    test('two that take them in one order are not, and their graph is drawn', async () => {
      const files = [await inProcess('a', 'stock', 'orders'), await inProcess('b', 'stock', 'orders')]
      const { text, exitCode } = await cli(['order', ...files])
      expect([exitCode, text.includes('No opposite orders.')]).toEqual([0, true])
      const { edges } = JSON.parse(await readFile(files[0] ?? '', 'utf8')) as { edges: OrderEdge[] }
      expect(edges).toMatchObject([{ from: 'table stock', to: 'table orders', toMode: 'exclusive' }])
    })
  },
  { only: ['postgres'] },
)

describe('holdfast order', () => {
  test.each([
    ['nothing', undefined, /name the files/],
    ['a file of something else', '{}', /was not written by watchOrder/],
    ['a file that is cut off', '{"holdfastOrder":1,"ed', /JSON/],
    ['edges of something else', '{"holdfastOrder":1,"edges":[{}]}', /was not written by watchOrder/],
  ])('refuses %s', async (_, content, words) => {
    const file = join(await mkdtemp(join(tmpdir(), 'order-')), 'order.json')
    if (content !== undefined) await writeFile(file, content)
    const { text, exitCode } = await cli(['order', ...(content === undefined ? [] : [file])])
    expect([exitCode, words.test(text)]).toEqual([2, true])
  })

  test('names are data in what it draws', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'order-')), 'order.json')
    const edge = { from: 'name "];x', to: 'name <b>', fromMode: 'exclusive', toMode: 'exclusive', gates: [] }
    await writeFile(file, JSON.stringify({ holdfastOrder: 1, isFull: true, edges: [edge] }))
    const { text } = await cli(['order', '--mermaid', file])
    expect(text).toContain('["name #34;]#59;x"]')
    expect(text).toContain('["name #60;b#62;"]')
    expect((await cli(['order', file])).text).toContain('Not everything was kept')
  })

  test.each(['', '--mermaid', '--json'])('a key moves no cursor: order %s', async (format) => {
    const file = join(await mkdtemp(join(tmpdir(), 'order-')), 'order.json')
    const edge = {
      from: 'name a\u001b[2J\nb',
      to: 'name \u202ec',
      fromMode: 'exclusive',
      toMode: 'exclusive',
    }
    await writeFile(
      file,
      JSON.stringify({ holdfastOrder: 1, isFull: false, edges: [{ ...edge, gates: [] }] }),
    )
    const { text } = await cli(['order', ...(format === '' ? [] : [format]), file])
    expect(text).toMatch(/name a(?:\u241b\[2J\u240a|\\u001b\[2J\\n)b/)
    for (const sign of ['\u001b', '\u202e']) expect(text).not.toContain(sign)
  })
})
