import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import type { Changes } from '../../src/dialects/claim.ts'
import { looksOfDead } from '../../src/locks/queue/dead-looks.ts'
import type { Queue, QueueDefinition } from '../../src/locks/queue/queue-definition.ts'
import { columnsOf, queue } from '../../src/locks/queue/queue.ts'

const good: QueueDefinition = {
  table: 'job',
  id: 'id',
  orderBy: [{ column: 'priority', direction: 'desc' }],
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', attempts: 'attempts' },
  done: { set: { state: 'done' } },
}

/** Each is one change of a queue that is right, and the field that the error names. */
const mistakes: readonly (readonly [string, unknown, string])[] = [
  ['no queue at all', undefined, 'queue'],
  ['a misspelt field', { ...good, orderby: 'id' }, 'orderby'],
  ['a table without a name', { ...good, table: '' }, 'table'],
  ['an id without a name', { ...good, id: undefined }, 'id'],
  ['an empty order', { ...good, orderBy: [] }, 'orderBy'],
  ['an order of SQL', { ...good, orderBy: [['priority desc']] }, 'orderBy[0]'],
  ['an order without a column', { ...good, orderBy: [{ direction: 'asc' }] }, 'orderBy[0].column'],
  ['an unknown direction', { ...good, orderBy: [{ column: 'a', direction: 'up' }] }, 'orderBy[0].direction'],
  ['a column twice in the order', { ...good, orderBy: ['a', 'a'] }, 'orderBy[1]'],
  ['an order by what a claim changes', { ...good, orderBy: 'claimed_until' }, 'orderBy[0]'],
  ['an empty list of values', { ...good, where: { state: [] } }, 'where.state'],
  ['a value that is missing', { ...good, where: { state: undefined } }, 'where.state'],
  ['a value that is no value', { ...good, where: { state: { $ne: 'done' } } }, 'where.state'],
  ['a condition in SQL', { ...good, where: "state = 'ready'" }, 'where'],
  ['a condition on what a claim changes', { ...good, where: { claim_token: null } }, 'where.claim_token'],
  ['no columns for the claim', { ...good, claim: undefined }, 'claim'],
  ['no column for the token', { ...good, claim: { until: 'until' } }, 'claim.token'],
  ['no column for the time', { ...good, claim: { token: 'token' } }, 'claim.until'],
  ['one column for two things', { ...good, claim: { token: 'a', until: 'a' } }, 'claim'],
  ['no end', { ...good, done: undefined }, 'done'],
  ['an end that is a word', { ...good, done: 'archive' }, 'done'],
  ['an end that changes nothing', { ...good, done: { set: {} } }, 'done.set'],
  ['an end after which it is a job again', { ...good, done: { set: { state: 'ready' } } }, 'done.set'],
  ['an end that keeps all rows of an open queue', { ...good, where: {} }, 'done.set'],
  ['an end that writes the claim', { ...good, done: { set: { claim_token: 'x' } } }, 'done.set.claim_token'],
  [
    'no attempts to count',
    { ...good, dead: { afterAttempts: 0, set: { state: 'dead' } } },
    'dead.afterAttempts',
  ],
  [
    'dead jobs without a count',
    { ...good, claim: { token: 'a', until: 'b' }, dead: { afterAttempts: 3, set: { state: 'dead' } } },
    'claim.attempts',
  ],
  ['dead jobs that stay jobs', { ...good, dead: { afterAttempts: 3, set: { note: 'x' } } }, 'dead.set'],
  [
    'dead jobs that look like those that are done',
    { ...good, dead: { afterAttempts: 3, set: { state: 'done' } } },
    'dead.set',
  ],
  [
    'dead jobs that look so but for a column that stays',
    {
      ...good,
      where: { state: 'ready', kind: 'a' },
      dead: { afterAttempts: 3, set: { state: 'done', kind: 'a' } },
    },
    'dead.set',
  ],
  ['no time', { ...good, visibilityMs: 0 }, 'visibilityMs'],
]

describe('a queue', () => {
  test.each(mistakes)('with %s is refused', (_, definition, field) => {
    const make = (): unknown => queue(definition as QueueDefinition)
    expect(make).toThrow(LockUsageError)
    expect(make).toThrow(expect.objectContaining({ field }) as Error)
  })

  test('is ordered by its id where the order leaves a choice', () => {
    expect(queue(good).shape.order).toEqual([
      { column: 'priority', direction: 'desc' },
      { column: 'id', direction: 'asc' },
    ])
    const newest = queue({ ...good, orderBy: [{ column: 'id', direction: 'desc' }] })
    expect(newest.shape.order).toEqual([{ column: 'id', direction: 'desc' }])
    expect(queue({ ...good, orderBy: 'id' }).shape.order).toEqual([{ column: 'id', direction: 'asc' }])
  })

  test('keeps others away for half a minute unless it says otherwise', () => {
    expect(queue(good).visibilityMs).toBe(30_000)
    expect(queue({ ...good, visibilityMs: 0.2 }).visibilityMs).toBe(1)
  })

  test('knows every column that it needs, once', () => {
    const made: Queue = queue(good)
    expect(columnsOf(made)).toEqual(['id', 'priority', 'state', 'claim_token', 'claimed_until', 'attempts'])
  })

  test('knows its dead letters by the columns of its condition, and by others only where it must', () => {
    const looks = (change: Partial<QueueDefinition>, set: Changes): unknown => {
      const made = queue({ ...good, ...change, dead: { afterAttempts: 3, set } })
      return looksOfDead(made, set).map(({ column, values }) => [column, ...values])
    }
    const dead = { state: 'dead', note: 'too often' }
    expect(looks({}, dead)).toEqual([['state', 'dead']])
    expect(looks({ where: { tenant: 'a', state: ['ready', 'new'] } }, dead)).toEqual([
      ['tenant', 'a'],
      ['state', 'dead'],
    ])
    expect(looks({ done: { set: { state: 'dead', note: 'fine' } } }, { ...dead, by: 'x' })).toEqual([
      ['state', 'dead'],
      ['note', 'too often'],
    ])
    expect(looks({ done: { set: { state: 'dead' } } }, dead)).toEqual([
      ['state', 'dead'],
      ['note', 'too often'],
    ])
  })

  test('may delete what is done, and then needs no condition', () => {
    expect(queue({ ...good, where: {}, done: 'delete' }).done).toBe('delete')
  })
})
