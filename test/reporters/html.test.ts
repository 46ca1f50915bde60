import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import type { Report, Verdict } from '../../src/conformance/report.ts'
import { html } from '../../src/conformance/reporters/html.ts'
import { visibleLines } from '../../src/conformance/reporters/visible.ts'
import { allHostile, emptySample, hostile, peacefulSample, sample } from './sample.ts'
import { elementsOf, named, parseXml, textOf, type Element } from './xml.ts'

const page = html(sample)
const root = parse(page)
const elements = elementsOf(root)
const laws = elements.filter(({ attributes }) => classesOf(attributes.class).includes('law'))

/** The page closes every tag, so that it can be read as strictly as XML. */
function parse(text: string): Element {
  return parseXml(text.replace('<!doctype html>\n', ''))
}

function classesOf(text = ''): readonly string[] {
  return text.split(' ')
}

describe('the page', () => {
  test('has only the elements and attributes that Holdfast writes', () => {
    const known =
      'html head meta title style body h1 h2 p div table thead tbody tr th td a small code input label br main section ' +
      'details summary span b pre ul ol li strong svg text rect g'
    expect(elements.map(({ name }) => name).filter((name) => !known.split(' ').includes(name))).toEqual([])
    const attributes = elements.flatMap((element) => Object.keys(element.attributes))
    expect(attributes.filter((name) => name.startsWith('on') || name === 'style' || name === 'src')).toEqual(
      [],
    )
  })

  test('asks for nothing from anywhere', () => {
    const links = elements.flatMap(({ attributes }) => attributes.href ?? [])
    expect(links.filter((href) => !href.startsWith('#'))).toEqual([])
    const [style] = named(root, 'style')
    expect(style && textOf(style)).not.toMatch(/url\(|@import/)
  })

  test('forbids all scripts, and all styles but its own', () => {
    const [style] = named(root, 'style')
    const hash = createHash('sha256')
      .update(style === undefined ? '' : textOf(style))
      .digest('base64')
    const policy = named(root, 'meta').find(
      ({ attributes }) => attributes['http-equiv'] === 'Content-Security-Policy',
    )
    expect(policy?.attributes.content).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    )
    expect(named(root, 'style')).toHaveLength(1)
  })

  test('shows hostile text, as text', () => {
    expect(page).not.toContain('<img')
    expect(page).not.toContain('</script')
    const reasons = elements.filter(({ attributes }) => attributes.class === 'reason').map(textOf)
    expect(reasons).toContain(visibleLines(allHostile))
    expect(textOf(root)).toContain(hostile.markup)
  })

  test('has one place for each law of each database, and every link leads somewhere', () => {
    const ids = elements.flatMap(({ attributes }) => attributes.id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => /\s/.test(id))).toEqual([])
    const results = sample.subjects.flatMap((subject) => subject.results)
    expect(laws).toHaveLength(results.length)
    const anchors = laws.map(({ attributes }) => attributes.id)
    expect(anchors).toContain('law-1-rows.newest')
    const links = elements.flatMap(({ attributes }) => attributes.href?.slice(1) ?? [])
    expect(links.filter((link) => !ids.includes(link))).toEqual([])
    expect(anchors.filter((anchor) => !links.includes(anchor ?? ''))).toEqual([])
  })

  test('shows of each law the sentence, the verdict, the features, the time and the reason', () => {
    const broken = laws.find(({ attributes }) => attributes.id === 'law-1-rows.newest')
    expect(broken?.attributes).toMatchObject({ class: 'law broken feature-row-exclusive', open: '' })
    expect(broken && textOf(broken)).toMatch(
      /BROKEN rows\.newest who waited[^]*b saw n = 1[^]*row-exclusive · 66 ms · run 3 times/,
    )
  })

  test('draws the steps of a law with a lane for each actor and a bar for each step', () => {
    const broken = laws.find(({ attributes }) => attributes.id === 'law-1-rows.newest')
    const drawn = broken === undefined ? [] : elementsOf(broken)
    const classes = drawn.map(({ attributes }) => attributes.class)
    expect(classes.filter((one) => one === 'lane')).toHaveLength(4)
    expect(classes.filter((one) => one?.startsWith('bar '))).toEqual([
      ...Array.from({ length: 4 }, () => 'bar done'),
      'bar done',
      'bar waits',
      'bar failed',
      'bar done',
      'bar unfinished',
    ])
    expect(drawn.filter(({ name }) => name === 'li')).toHaveLength(9)
  })

  test('draws what waits for as long as it waits', () => {
    const bars = laws.flatMap(elementsOf).filter(({ attributes }) => attributes.class?.startsWith('bar '))
    const wait = bars.find(({ attributes }) => attributes.class === 'bar waits')
    const box = wait === undefined ? undefined : named(wait, 'rect')[0]
    const commit = bars.find((bar) => textOf(bar).includes('commit'))
    const commitBox = commit === undefined ? undefined : named(commit, 'rect')[0]
    const end = Number(box?.attributes.x) + Number(box?.attributes.width)
    expect(end).toBeGreaterThan(Number(commitBox?.attributes.x))
  })

  test('has a matrix of features and databases, whose cells lead to laws', () => {
    const [table] = named(root, 'table')
    const rows = table === undefined ? [] : named(table, 'tr')
    expect(new Set(rows.map(({ children }) => children.length))).toEqual(
      new Set([sample.subjects.length + 1]),
    )
    const broken = (table === undefined ? [] : named(table, 'td')).find(
      ({ attributes }) => attributes.class === 'state broken',
    )
    expect(broken && named(broken, 'a')[0]?.attributes.href).toBe('#law-1-rows.newest')
  })

  test('filters by verdict and feature with boxes that stand before the laws', () => {
    const [style] = named(root, 'style')
    const rules = style === undefined ? '' : textOf(style)
    const inputs = named(root, 'input').map(({ attributes }) => attributes.id ?? '')
    expect(inputs).toContain('show-holds')
    for (const id of inputs.filter((one) => one !== 'only-all')) expect(rules).toContain(`#${id}:`)
    expect(page.lastIndexOf('<input')).toBeLessThan(page.indexOf('<main>'))
  })

  test('fits a phone, and light and dark rooms', () => {
    expect(page).toContain('width=device-width')
    expect(page).toContain('prefers-color-scheme: dark')
  })

  test('says that all laws hold only where none is refused and each is promised', () => {
    const [subject] = peacefulSample.subjects
    const titleWith = (...verdicts: readonly Verdict[]): string => {
      const [result] = subject?.results ?? []
      const results = verdicts.map((verdict) => ({ ...result, verdict }))
      const report = { ...peacefulSample, subjects: [{ ...subject, results }] } as Report
      return named(parse(html(report)), 'h1')
        .map(textOf)
        .join()
    }
    expect(titleWith('holds', 'holds')).toBe('Holdfast: all laws hold')
    expect(titleWith('holds', 'refused')).toBe('Holdfast: 1 law holds, 1 refused')
    expect(titleWith('holds', 'holds', 'not-promised')).toBe('Holdfast: 2 laws hold, 1 not promised')
    expect(page).toContain('Not promised: the law makes no promise about a database like this one')
  })

  test.each([emptySample, peacefulSample])('is well-formed with less in it', (report) => {
    expect(parse(html(report)).name).toBe('html')
  })
})
