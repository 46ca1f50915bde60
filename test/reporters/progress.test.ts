import { describe, expect, test } from 'vitest'

import { createProgress, progressLine, type ProgressStep } from '../../src/conformance/reporters/progress.ts'

const start: ProgressStep = {
  done: 0,
  total: 120,
  broken: 0,
  law: 'rows.excludes',
  subject: 'postgres through pg',
  elapsedMs: 0,
}

describe('a line of progress', () => {
  test('has a bar, the counts, the time left by the mean so far, and what runs now', () => {
    const line = progressLine({ ...start, done: 30, broken: 1, elapsedMs: 10_000 }, 200)
    expect(line).toBe(
      '[#####---------------]  30/120 laws  1 BROKEN  about 30 s left  postgres through pg: rows.excludes',
    )
  })

  test('guesses no time before a law is done, and none after the last', () => {
    expect(progressLine(start, 200)).not.toContain('left')
    expect(progressLine({ ...start, done: 120, elapsedMs: 10_000 }, 200)).not.toContain('left')
  })

  test('counts long times in minutes', () => {
    expect(progressLine({ ...start, done: 1, elapsedMs: 1000 }, 200)).toContain('about 1 min 59 s left')
  })

  test('has a full bar only at the end', () => {
    expect(progressLine({ ...start, done: 119 }, 200)).toContain('#-]')
    expect(progressLine({ ...start, done: 120 }, 200)).toContain(`[${'#'.repeat(20)}]`)
  })

  test('is no longer than the screen, and shows what steers one', () => {
    const line = progressLine({ ...start, law: '\u001b[2J\n'.repeat(50) }, 60)
    expect(line).toHaveLength(60)
    expect(line).not.toMatch(/\p{Cc}/u)
  })

  test('stands with nothing to do', () => {
    expect(progressLine({ ...start, total: 0 }, 200)).toContain('0/0 laws')
  })
})

describe('on a screen that people watch', () => {
  test('each step is written over the one before, and the end takes the line away', () => {
    const progress = createProgress({ isInteractive: true, columns: 80 })
    expect(progress.end()).toBe('')
    const steps = [start, { ...start, done: 1 }, { ...start, done: 2, elapsedMs: 1 }].map(progress.step)
    for (const text of steps) {
      expect(text.startsWith('\r\u001b[2K')).toBe(true)
      expect(text.slice('\r\u001b[2K'.length)).toMatch(/^\P{Cc}+$/u)
      expect(text.length).toBeLessThan(80 + '\r\u001b[2K'.length)
    }
    expect(progress.end()).toBe('\r\u001b[2K')
  })
})

describe('in a log', () => {
  test('there is a line for each database, one every five seconds, and one at the end', () => {
    const progress = createProgress({ isInteractive: false, columns: 80 })
    const written = (step: Partial<ProgressStep>): boolean => progress.step({ ...start, ...step }) !== ''
    expect(written({ elapsedMs: 0 })).toBe(true)
    expect(written({ elapsedMs: 100, done: 1 })).toBe(false)
    expect(written({ elapsedMs: 4999, done: 50 })).toBe(false)
    expect(written({ elapsedMs: 5000, done: 51 })).toBe(true)
    expect(written({ elapsedMs: 9999, done: 52 })).toBe(false)
    expect(written({ elapsedMs: 9999, done: 60, subject: 'sqlite' })).toBe(true)
    expect(written({ elapsedMs: 10_000, done: 120, subject: 'sqlite' })).toBe(true)
    expect(written({ elapsedMs: 10_001, done: 120, subject: 'sqlite' })).toBe(false)
    expect(progress.end()).toBe('')
  })

  test('a line is whole, and nothing is written over', () => {
    const text = createProgress({ isInteractive: false, columns: 10 }).step(start)
    expect(text).toMatch(/rows\.excludes\n$/)
    expect(text.trimEnd()).not.toMatch(/\p{Cc}/u)
  })
})
