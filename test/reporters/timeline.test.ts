import { describe, expect, test } from 'vitest'

import type { TraceEvent } from '../../src/conformance/report.ts'
import { timelineOf } from '../../src/conformance/reporters/timeline.ts'

function event(actor: string, does: string, more: Partial<TraceEvent> = {}): TraceEvent {
  return { actor, does, startMs: 0, endMs: 0, outcome: 'done', ...more }
}

const shown = (...trace: readonly TraceEvent[]): string => timelineOf(trace, 60).join('\n')

describe('the steps of a law as text', () => {
  test('what ends before another begins has one line', () => {
    const text = shown(
      event('a', 'lock', { startMs: 1, endMs: 4, detail: '1 row' }),
      event('b', 'read', { startMs: 5, endMs: 6 }),
    )
    expect(text).toBe(
      [
        '     ms  a                         b',
        '      1  lock → 1 row',
        '      5                            read',
      ].join('\n'),
    )
  })

  test('what waits is dotted until it ends', () => {
    const text = shown(
      event('a', 'lock', { startMs: 1, endMs: 2 }),
      event('b', 'lock', { startMs: 3, endMs: 50, outcome: 'waits', detail: 'granted' }),
      event('a', 'commit', { startMs: 48, endMs: 49 }),
    )
    expect(text).toBe(
      [
        '     ms  a                         b',
        '      1  lock',
        '      3                            lock … waits',
        '     48  commit                    ┊',
        '     50                            └ lock (waited 47 ms) →',
        '                                   granted',
      ].join('\n'),
    )
  })

  test('what never ends is open to the last line', () => {
    const { startMs } = event('b', '')
    const text = shown(
      { actor: 'b', does: 'lock', startMs, outcome: 'unfinished' },
      event('a', 'commit', { startMs: 5, endMs: 6, outcome: 'failed', detail: 'no connection' }),
    )
    expect(text).toMatch(/ 5 {2}│ +commit ✗ no connection\n +end {2}└ lock \(never ended\)$/)
  })

  test('steps are in the order of time, whatever the order of the trace', () => {
    const text = shown(event('a', 'second', { startMs: 9, endMs: 9 }), event('a', 'first'))
    expect(text.indexOf('first')).toBeLessThan(text.indexOf('second'))
  })

  test('nothing is drawn of nothing', () => {
    expect(timelineOf([], 80)).toEqual([])
  })
})
