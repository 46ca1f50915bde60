import { describe, expect, test } from 'vitest'

import { junit } from '../../src/conformance/reporters/junit.ts'
import { countsOf } from '../../src/conformance/reporters/findings.ts'
import { emptySample, sample } from './sample.ts'
import { named, parseXml, textOf, type Element } from './xml.ts'

const root = parseXml(junit(sample))
const suites = named(root, 'testsuite')

describe('JUnit', () => {
  test('has a suite for each database and a case for each law, under names of their own', () => {
    expect(suites).toHaveLength(sample.subjects.length)
    for (const [index, { results, error }] of sample.subjects.entries()) {
      const cases = casesOf(index)
      expect(cases).toHaveLength(results.length + (error === undefined ? 0 : 1))
    }
    const names = named(root, 'testcase').map(
      ({ attributes }) => `${attributes.classname}#${attributes.name}`,
    )
    expect(new Set(names).size).toBe(names.length)
  })

  test('counts what it has', () => {
    for (const element of [root, ...suites]) {
      expect(element.attributes).toMatchObject({
        tests: String(named(element, 'testcase').length),
        failures: String(named(element, 'failure').length),
        errors: String(named(element, 'error').length),
        skipped: String(named(element, 'skipped').length),
      })
    }
    const counts = countsOf(sample)
    expect(named(root, 'failure')).toHaveLength(counts.broken)
    expect(named(root, 'skipped')).toHaveLength(counts.refused + counts['not-promised'])
  })

  test('has durations in seconds', () => {
    const times = [root, ...suites, ...named(root, 'testcase')].map(({ attributes }) => attributes.time ?? '')
    expect(times.filter((time) => !/^\d+\.\d{3}$/.test(time))).toEqual([])
    expect(root.attributes.time).toBe('65.400')
  })

  test('tells of a broken law what was seen, and its steps', () => {
    const [failure] = named(root, 'failure')
    expect(failure?.attributes.message).toBe('b saw n = 1, although a had committed n = 2')
    expect(failure && textOf(failure)).toMatch(/who waited for a row[^]*lock row 1 … waits[^]*never ended/)
  })

  test('skips what is refused or not promised, with the reason', () => {
    const messages = named(root, 'skipped').map(({ attributes }) => attributes.message)
    expect(messages).toContainEqual(expect.stringMatching(/^refused: behind a pooler/))
    expect(messages).toContainEqual('not promised: the server cannot be started again')
  })

  test('is well-formed with nothing in it', () => {
    expect(parseXml(junit(emptySample))).toMatchObject({ name: 'testsuites', attributes: { tests: '0' } })
  })
})

test.each([
  ['a tag that is closed by another', '<a><b></a></b>'],
  ['a bare ampersand', '<a>1 & 2</a>'],
  ['an unknown entity', '<a>&nbsp;</a>'],
  ['an attribute without quotes', '<a b=1/>'],
  ['an attribute twice', '<a b="1" b="2"/>'],
  ['the end of CDATA', '<a>]]></a>'],
  ['a character that is forbidden', '<a>\u0008</a>'],
  ['half of a surrogate pair', '<a>\ud800</a>'],
  ['two roots', '<a/><b/>'],
  ['what is never closed', '<a><b>'],
])('the reader of these tests refuses %s', (_, text) => {
  expect(() => parseXml(text)).toThrow()
})

function casesOf(index: number): readonly Element[] {
  const suite = suites[index]
  return suite === undefined ? [] : named(suite, 'testcase')
}
