import { describe, expect, test } from 'vitest'

import { restoreStatement, waitingBy, type SettingChange } from '../../src/core/plan.ts'
import { readAnswer, type Answers } from '../../src/core/statement.ts'

describe('an answer', () => {
  const answers: Answers = {
    column: 'answer',
    meaning: { 1: 'granted', 0: 'busy', null: 'failed', true: 'granted' },
  }

  test.each([1, 1n, '1', true])('is the same as %o, whatever type the driver gives it', (value) => {
    expect(readAnswer(answers, [{ answer: value }])).toBe('granted')
  })

  test('that is not listed is never a grant', () => {
    for (const value of [2, '', 'constructor', undefined, null]) {
      expect(readAnswer(answers, [{ answer: value }])).toBe('failed')
    }
    expect(readAnswer(answers, [])).toBe('failed')
  })

  test('can be "no row", and any row', () => {
    const any: Answers = { column: '_id', meaning: { none: 'busy', '*': 'granted' } }
    expect(readAnswer(any, [])).toBe('busy')
    expect(readAnswer(any, [{ _id: 'x' }])).toBe('granted')
  })
})

describe('a setting is restored', () => {
  const empty = { sql: '', params: [] }
  const saved: SettingChange = {
    read: empty,
    apply: empty,
    restore: { sql: 'SET LOCK_TIMEOUT {saved}', params: [] },
  }

  test.each([0, -1, 5000, 5000n, '5000'])('to the whole number %o that was read', (value) => {
    expect(restoreStatement(saved, value).sql).toBe(`SET LOCK_TIMEOUT ${value}`)
  })

  test.each(['1; DROP TABLE account', '', undefined, null, 1.5, 'NaN', '1e3'])('never to %o', (value) => {
    expect(() => restoreStatement(saved, value)).toThrow(TypeError)
  })

  test('as it stands where the server kept the old value', () => {
    const kept: SettingChange = { apply: empty, restore: { sql: 'SET a = @saved', params: [] } }
    expect(restoreStatement(kept, undefined)).toBe(kept.restore)
  })
})

test('only a wait that was asked for is a wait', () => {
  expect(waitingBy('server', 'block')).toEqual({ by: 'server' })
  expect(waitingBy('statement', { timeoutMs: 5 })).toEqual({ by: 'statement', timeoutMs: 5 })
  expect(waitingBy('transaction', 'nowait')).toEqual({ by: 'nobody' })
  expect(waitingBy('server', 'skip')).toEqual({ by: 'nobody' })
})
