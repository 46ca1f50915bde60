import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chartOf } from '../../bench/chart.ts'
import { figureText, goalText, isMet } from '../../bench/figure-text.ts'
import { goalLine, goalTable } from '../../bench/goals.ts'
import { describeMachine } from '../../bench/machine.ts'
import { pageOf } from '../../bench/page.ts'
import { clock, createProgress } from '../../bench/progress.ts'
import { readResults, writeResult, type Result } from '../../bench/result.ts'
import type { Section } from '../../bench/scenario.ts'

const section: Section = {
  title: 'claim <1> & complete, 16 workers',
  unit: 'jobs/s',
  isMoreBetter: true,
  rows: [
    { name: 'Holdfast', median: 4000, low: 3800, high: 4100, more: { retries: 0 } },
    { name: 'by hand | old', median: 2000, low: 1500, high: 2600 },
  ],
  goals: [
    { what: 'to code by hand', reached: 2, must: 1.6 },
    { what: 'longest wait', reached: 12, must: 10, isAtMost: true },
  ],
  notes: ['a note'],
}

const result = async (): Promise<Result> => ({
  id: 'queue',
  title: 'A queue',
  about: 'What is compared.',
  on: '2026-01-02',
  tookSeconds: 61.5,
  machine: { ...(await describeMachine()), engines: { postgres: '17.2' } },
  sections: [section],
})

test('figures are as long as they mean something', () => {
  expect([12345.6, 123.4, 12.34, 1.234, 0.0012, 0].map(figureText)).toEqual([
    '12,346',
    '123',
    '12.3',
    '1.23',
    '0.0012',
    '0',
  ])
})

test('a goal is met from above, or from below where it says so', () => {
  const [more, less] = section.goals
  if (more === undefined || less === undefined) throw new Error('two goals')
  expect([isMet(more), isMet(less), isMet({ ...less, reached: 10 })]).toEqual([true, false, true])
  expect(isMet({ ...more, reached: Number.NaN }), 'what was not measured').toBe(false)
  expect([goalText(more), goalText(less)]).toEqual([
    '2.00, must be at least 1.60',
    '12.0, must be at most 10.0',
  ])
})

test('a goal is told with what the rounds reached, and is in doubt where it is among them', () => {
  const goal = { what: 'to code by hand', reached: 1.7, low: 1.65, high: 1.8, must: 1.6 }
  const found = [goal, { ...goal, low: 1.5 }, { ...goal, reached: 1.2, low: 1.1, high: 1.3 }].map((one) => ({
    id: 'queue',
    goal: one,
  }))
  expect(found.map(goalLine)).toEqual([
    'met        1.70 (1.65 - 1.80)  at least 1.60  queue: to code by hand',
    'met ?      1.70 (1.50 - 1.80)  at least 1.60  queue: to code by hand',
    'NOT MET    1.20 (1.10 - 1.30)  at least 1.60  queue: to code by hand',
  ])
  expect(goalTable(found)).toEqual([
    '         reached  quartiles    must be        scenario  goal',
    'met      1.70     1.65 - 1.80  at least 1.60  queue     to code by hand',
    'met ?    1.70     1.50 - 1.80  at least 1.60  queue     to code by hand',
    'NOT MET  1.20     1.10 - 1.30  at least 1.60  queue     to code by hand',
  ])
})

describe('a chart', () => {
  const chart = chartOf(section)

  test('has a bar with whiskers for each contestant, as long as its median', () => {
    const bars = [...chart.matchAll(/<rect class="(own|bar)" x="250" y="[\d.]+" width="([\d.]+)"/g)]
    expect(bars.map(([, kind]) => kind)).toEqual(['own', 'bar'])
    const [own, other] = bars.map(([, , width]) => Number(width))
    expect(Number(own) / Number(other)).toBeCloseTo(2, 2)
    expect(chart.match(/<line /g)).toHaveLength(6)
    for (const line of chart.matchAll(/x[12]="([\d.]+)"/g)) expect(Number(line[1])).toBeLessThan(720)
  })

  test('follows the colours of the reader, and escapes what has a meaning in it', () => {
    expect(chart).toContain('prefers-color-scheme: dark')
    expect(chart).toContain('claim &lt;1&gt; &amp; complete')
    expect(chart).not.toContain('<1>')
    expect(chart).toContain('jobs/s, more is better')
  })

  test('of nothing, or of zeros, is still a chart', () => {
    for (const rows of [[], [{ name: 'none', median: 0, low: 0, high: 0 }]])
      expect(chartOf({ ...section, rows })).not.toMatch(/NaN|Infinity/)
  })
})

test('a page has the goals first, then charts, tables and notes', async () => {
  const page = pageOf([await result()])
  expect(page).toMatch(/1 of 2 are met/)
  expect(page.indexOf('## Goals')).toBeLessThan(page.indexOf('## queue'))
  for (const part of [
    '![claim <1> & complete, 16 workers](queue-1.svg)',
    '| by hand \\| old | 2,000 | 1,500 - 2,600 | 0.50 x |  |',
    '- **not met**: longest wait: 12.0, must be at most 10.0',
    '- a note',
    'postgres 17.2',
  ])
    expect(page).toContain(part)
})

describe('results in a folder', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('are replaced with their charts, and those of other scenarios stay', async () => {
    const one = await result()
    await writeResult(folder, { ...one, sections: [section, section] })
    await writeResult(folder, { ...one, id: 'queue-2' })
    await writeFile(join(folder, 'mine.txt'), '')
    await writeResult(folder, one)
    expect((await readdir(folder)).toSorted()).toEqual(
      ['README.md', 'mine.txt', 'queue-1.svg', 'queue-2-1.svg', 'queue-2.json', 'queue.json'].toSorted(),
    )
    expect((await readResults(folder)).map(({ id }) => id)).toEqual(['queue-2', 'queue'])
  })

  test('say nothing of whose machine it was', async () => {
    const texts = await Promise.all(
      (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
    )
    for (const word of [hostname(), process.cwd(), userInfo().homedir])
      expect(texts.join('\n').includes(word), word).toBe(false)
  })
})

test('progress says where it is, and how long it will take where that is known', () => {
  const lines: string[] = []
  const out = { write: (text: string) => lines.push(text) }
  const unknown = createProgress(['a', 'b'], new Map(), out)
  unknown.say('before')
  unknown.begin('b')
  unknown.say('round 1')
  const known = createProgress(
    ['a', 'b'],
    new Map([
      ['a', 60_000],
      ['b', 30_000],
    ]),
    out,
  )
  known.begin('a')
  known.say('round 1')
  expect(lines).toEqual([
    'bench: before\n',
    '[2/2 b 0:00] round 1\n',
    '[1/2 a 0:00, about 1:30 left] round 1\n',
  ])
  expect(clock(61_400)).toBe('1:01')
})

test('progress on a terminal is one line, which is taken away in the end', () => {
  const lines: string[] = []
  const terminal = { isTTY: true, columns: 20, write: (text: string) => lines.push(text) }
  const progress = createProgress(['a'], new Map(), terminal)
  progress.say('a line that is longer than the terminal is wide')
  progress.end()
  progress.end()
  expect(lines).toEqual(['bench: a line that i', '\r\u001B[K'].map((line) => line.slice(0, 19)))
})
