import { describe, expect, test } from 'vitest'

import { Actor } from '../../src/race/actor.ts'
import { effectOf, isQuiet } from '../../src/race/quiet.ts'
import {
  isSerial,
  nameOf,
  Search,
  stepsOf,
  switchesOf,
  usualChoice,
  type Decision,
} from '../../src/race/schedule.ts'

/** Plays actors of so many steps each, of which nobody ever waits, and gives the names of all schedules in order. */
function all(
  lengths: Readonly<Record<string, number>>,
): readonly { readonly name: string; readonly switches: number }[] {
  const search = new Search()
  const found: { name: string; switches: number }[] = []
  for (let start = search.next(); start !== undefined; start = search.next()) {
    const decisions = playedFrom(start, lengths)
    search.ran(start, decisions)
    found.push({ name: nameOf(decisions), switches: switchesOf(decisions) })
  }
  return found
}

function playedFrom(
  start: readonly string[],
  lengths: Readonly<Record<string, number>>,
): readonly Decision[] {
  const left = { ...lengths }
  const decisions: Decision[] = []
  for (;;) {
    const enabled = Object.keys(left).filter((name) => Number(left[name]) > 0)
    if (enabled.length === 0) return decisions
    const point = { enabled, current: decisions.at(-1)?.chosen }
    const chosen = start[decisions.length] ?? usualChoice(point)
    left[chosen] = Number(left[chosen]) - 1
    decisions.push({ ...point, chosen })
  }
}

describe('the search', () => {
  test('finds every order once, and those with fewer switches first', () => {
    const found = all({ a: 2, b: 2 })
    expect(found.map(({ name }) => name)).toEqual([
      'a a b b',
      'b b a a',
      'a b b a',
      'b a a b',
      'a b a b',
      'b a b a',
    ])
    expect(found.map(({ switches }) => switches)).toEqual([0, 0, 1, 1, 2, 2])
    expect(new Set(all({ a: 3, b: 3, c: 2 }).map(({ name }) => name)).size).toBe(560) // 8! / (3! 3! 2!)
    expect(all({ a: 3, b: 3, c: 2 })).toHaveLength(560)
  })

  test('knows up to how many switches it is complete', () => {
    const search = new Search()
    expect(search.completeSwitches).toBe(-1)
    for (const _ of [1, 2]) {
      const start = search.next(0) ?? []
      search.ran(start, playedFrom(start, { a: 2, b: 2 }))
    }
    expect([search.next(0), search.completeSwitches, search.left]).toEqual([undefined, 0, 2])
  })
})

describe('the name of a schedule', () => {
  test('reads back, and refuses strangers', () => {
    expect(stepsOf(' a b  b a ', ['a', 'b'])).toEqual(['a', 'b', 'b', 'a'])
    expect(() => stepsOf('a c', ['a', 'b'])).toThrow(/"c" is no actor/)
  })

  test('tells whether the actors ran one after the other', () => {
    expect(['a a b', 'b a a', 'a b a', ''].map((name) => isSerial(name))).toEqual([true, true, false, true])
  })
})

describe('a statement', () => {
  test('after which nobody has to be let in is the start of a transaction that takes nothing', () => {
    const quiet = [
      'BEGIN',
      'begin isolation level serializable',
      'START TRANSACTION;',
      'SAVEPOINT s',
      'SET lock_timeout = 1',
    ]
    const loud = [
      'BEGIN IMMEDIATE',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT',
      'BEGIN; SELECT pg_advisory_xact_lock(1)',
      'SET @n = (SELECT 1)',
      'SELECT 1',
      'COMMIT',
    ]
    expect(quiet.filter((text) => !isQuiet(text))).toEqual([])
    expect(loud.filter((text) => isQuiet(text))).toEqual([])
  })

  test('opens or ends a transaction, or neither', () => {
    const texts = [
      'BEGIN',
      'begin; set local lock_timeout = 1',
      'COMMIT',
      'rollback',
      'ROLLBACK TO SAVEPOINT s',
      'SELECT 1',
    ]
    expect(texts.map((text) => effectOf(text))).toEqual([
      'opens',
      'opens',
      'ends',
      'ends',
      undefined,
      undefined,
    ])
  })
})

describe('an actor that wants a connection', () => {
  const moves = (isStuck: (() => boolean) | undefined): boolean => {
    const actor = new Actor('a')
    actor.queueing.add({ isStuck })
    actor.busySince = performance.now() - 1000
    return actor.isMoving(0, 100)
  }

  test('is waited for while that is on its way, however long it takes, and not when another has to give one back', () => {
    expect([moves(() => false), moves(() => true)]).toEqual([true, false])
  })

  test('is given the time of other code where nobody knows whether it comes', () => {
    expect(moves(undefined)).toBe(false)
  })
})
