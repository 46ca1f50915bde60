import { expect, test } from 'vitest'

import { createLine, graceMs, type Line } from '../../src/locks/lease/line.ts'
import { newsText, readNews, type News } from '../../src/locks/lease/news.ts'

const name = 'hl:a b'

/** A line as this process sees it, and the clock that it goes by. */
function lineAt(...texts: string[]): {
  line: Line
  hear: (text: string) => void
  pass: (ms: number) => void
} {
  let now = 1000
  const line = createLine('me', () => now)
  const hear = (text: string): void => line.hear(readNews(`${text} ${name}`))
  for (const text of texts) hear(text)
  return { line, hear, pass: (ms) => void (now += ms) }
}

test('what is told of a lease is read as it was written', () => {
  const all: readonly News[] = [
    { kind: 'waits', member: 'x_-9', forMs: 12, name },
    { kind: 'took', member: 'x', name },
    { kind: 'left', member: 'x', name },
    { kind: 'freed', member: 'x', name },
    { kind: 'freed', member: undefined, name },
  ]
  for (const news of all) expect(readNews(newsText(news))).toEqual(news)
})

test.each(['', '?', '? x', '? x y z', '+ ', '! ', 'anything at all', '? x 99999999999999999999 a'])(
  'a text that is none of ours, as %j, is the name of a lease that may be free',
  (text) => {
    expect(readNews(text)).toEqual({ kind: 'freed', member: undefined, name: text })
  },
)

test('nobody asks for a lease that is held, and whoever is first asks as soon as it is free', () => {
  const { line, hear } = lineAt('? me 10', '? b 0')
  expect(line.turnAt()).toBe(Infinity)
  hear('! c')
  expect(line.turnAt()).toBe(1000)
  hear('+ b')
  expect(line.turnAt()).toBe(Infinity)
})

test('whoever stands behind asks when those in front had their time', () => {
  const { line, hear } = lineAt('? a 30', '? b 20', '? me 10', '! c')
  expect(line.place()).toBe(2)
  expect(line.turnAt()).toBe(1000 + 2 * graceMs)
  hear('- a')
  expect(line.turnAt()).toBe(1000 + graceMs)
})

test('the order is that of the time waited, whenever somebody is first heard of', () => {
  const { line, hear, pass } = lineAt('? me 0')
  pass(50)
  hear('? older 90')
  hear('? newer 5')
  expect(line.place()).toBe(1)
  hear('? newer 5000') // it has its place already
  expect(line.place()).toBe(1)
})

test('whoever has had the lease stands behind all who waited meanwhile', () => {
  const { line, hear } = lineAt('? me 20', '? b 10', '+ me')
  expect(line.since()).toBeUndefined()
  hear('! me')
  expect(line.place()).toBe(1)
  hear('+ b')
  hear('! b')
  expect(line.place()).toBe(0)
})

test('one that let its time go by is struck off, and one that was only overtaken is not', () => {
  const { line, hear, pass } = lineAt('? dead 30', '? me 20', '? c 10', '! d')
  pass(5)
  hear('+ c')
  expect(line.place()).toBe(1)
  hear('! c')
  pass(graceMs)
  hear('+ me')
  hear('! me')
  // d, c and this one: the dead one is gone
  expect(line.place()).toBe(2)
})

test('a request that found the lease held counts only against what was heard before', () => {
  const { line, hear, pass } = lineAt('? me 0', '! b')
  pass(5)
  line.foundHeld(1005)
  expect(line.turnAt()).toBe(Infinity)
  hear('! b')
  line.foundHeld(1004)
  expect(line.turnAt()).toBe(1005)
})
