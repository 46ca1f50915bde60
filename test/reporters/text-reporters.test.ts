import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'

import type { Verdict } from '../../src/conformance/report.ts'
import { reporters, type ReporterName } from '../../src/conformance/reporters/reporters.ts'
import { allHostile, emptySample, peacefulSample, plainSample, sample } from './sample.ts'

const plain = { hasColour: false, columns: 100 }
const names = Object.keys(reporters) as ReporterName[]

/** What holds is a number there, so that what does not is seen. */
const leftOut: Partial<Record<ReporterName, readonly Verdict[]>> = {
  terminal: ['holds', 'not-promised'],
  markdown: ['holds'],
}

describe.each(names)('%s', (name) => {
  const reporter = reporters[name]

  test('shows no character that could steer a screen, reverse a line or be lost', () => {
    expect(reporter(sample, plain)).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{fffe}\u{ffff}]/u)
  })

  test('names every law that a reader has to know about', () => {
    const text = reporter(plainSample, plain)
    for (const { results } of plainSample.subjects) {
      const said = results.filter(({ verdict }) => !leftOut[name]?.includes(verdict))
      expect(said.filter(({ id }) => !text.includes(id))).toEqual([])
    }
  })

  test('says why a database could not be reached', () => {
    expect(reporter(plainSample, plain)).toContain('connect ECONNREFUSED 127.0.0.1:3306')
  })

  test('is the same whenever the report is', () => {
    expect(reporter(sample, plain)).toBe(reporter(structuredClone(sample), plain))
  })

  test('has something to say about nothing at all', () => {
    expect(reporter(emptySample, plain)).toMatch(/\n$/)
  })
})

describe('the terminal', () => {
  test('shows what its reviewed file shows', async () => {
    await expect(reporters.terminal(sample, plain)).toMatchFileSnapshot('golden/terminal.txt')
  })

  test('says the same with colours', () => {
    const coloured = reporters.terminal(sample, { ...plain, hasColour: true })
    expect(coloured).toContain('\u001b[')
    expect(stripVTControlCharacters(coloured)).toBe(reporters.terminal(sample, plain))
  })

  test('makes what is broken stand out without colours', () => {
    const rows = reporters.terminal(plainSample, plain).split('\n')
    expect(rows.filter((row) => row.includes('!! BROKEN'))).toEqual([
      expect.stringMatching(/^row-exclusive /),
    ])
    expect(rows.filter((row) => row.startsWith('BROKEN '))).toHaveLength(1)
  })

  test('ends with one line that counts', () => {
    expect(reporters.terminal(plainSample, plain).trimEnd().split('\n').at(-1)).toBe(
      '7 laws on 3 databases: 2 hold, 1 broken, 2 refused, 2 not promised, ' +
        '1 database not run to the end; took 1 min 5 s, seed 42',
    )
  })

  test('goes on below where a screen is too narrow for all databases', () => {
    const lines = reporters.terminal(plainSample, { hasColour: false, columns: 40 }).split('\n')
    const matrix = lines.slice(0, lines.indexOf('Refused'))
    expect(matrix.filter((line) => line.startsWith('row-exclusive ')).length).toBeGreaterThan(1)
    expect(matrix.slice(0, 20).filter((line) => line.length > 40)).toEqual([])
  })

  test('counts what was not begun apart, and does not show it as if all was well', () => {
    const subjects = peacefulSample.subjects.map((subject) => ({
      ...subject,
      error: 'not begun: interrupted',
      notBegun: true as const,
    }))
    const report = { ...peacefulSample, subjects }
    expect(reporters.terminal(report, plain)).toMatch(/ not promised, \d databases? not begun; took/)
    const red = reporters
      .terminal(report, { ...plain, hasColour: true })
      .trimEnd()
      .split('\n')
      .at(-1)
    expect(red).toContain('\u001b[31m')
    expect(reporters.markdown(report, plain)).toMatch(/^# Holdfast: \d databases? not run to the end$/m)
    expect(reporters.html(report, plain)).toContain('class="banner broken"')
  })

  test('says nothing of broken or refused laws where there are none', () => {
    expect(reporters.terminal(peacefulSample, plain)).not.toMatch(/BROKEN \w+\.|Refused|Not run/)
  })
})

describe('JSON', () => {
  test('reads back as the very same report', () => {
    expect(JSON.parse(reporters.json(sample, plain))).toEqual(sample)
  })
})

describe('Markdown', () => {
  test('is what its reviewed file shows', async () => {
    await expect(reporters.markdown(sample, plain)).toMatchFileSnapshot('golden/markdown.md')
  })

  test('keeps each row of the matrix in one line with as many cells as databases', () => {
    const rows = reporters
      .markdown(sample, plain)
      .split('\n')
      .filter((line) => line.startsWith('| '))
    const cells = rows.map((row) => row.replaceAll(String.raw`\|`, '').split('|').length - 2)
    expect(new Set(cells)).toEqual(new Set([sample.subjects.length + 1]))
  })

  test('has foreign text only escaped or between fences that it cannot close', () => {
    const open: string[] = []
    const outside: string[] = []
    for (const line of reporters.markdown(sample, plain).split('\n')) {
      const fence = /^(`{3,})(?:text)?$/.exec(line)?.[1]
      if (open.length === 0 && fence !== undefined) open.push(fence)
      else if (open.length > 0 && fence === open[0]) open.pop()
      else if (open.length === 0) outside.push(line)
    }
    expect(open).toEqual([])
    const tags = outside.join('\n').match(/<[^>]*>/g)
    expect(new Set(tags)).toEqual(
      new Set(['<details>', '</details>', '<summary>', '</summary>', '<b>', '</b>', '<br>']),
    )
    expect(outside.join('\n')).not.toMatch(/[@#](?=[A-Za-z\d])(?!8203|39)/)
    expect(outside.filter((line) => !line.startsWith('<summary>')).join('\n')).not.toMatch(
      /(?<!\\)[`~$[\]]|http:\/\//,
    )
    expect(allHostile).toMatch(/```[^]*@octocat/)
  })
})
