import { isRawKey, type KeyPart, type LockKey } from '../../core/key.ts'
import type { Stage } from '../stage.ts'

/** Two ways to write a key, and what they have to be. */
export interface Pair {
  readonly one: LockKey
  readonly other: LockKey
  readonly are: 'one lock' | 'two locks'
  /** For people. */
  readonly written: string
}

type Parts = readonly KeyPart[]

/** Keys that are easily taken for each other. */
export function lookAlikes(stage: Stage): readonly Pair[] {
  return pairs(stage, 'two locks', [
    [['7'], [7]],
    [['a', 'b'], ['a.b']],
    [['a', 'b'], ['ab']],
    [['a'], ['A']],
    [['a'], ['a ']],
    [
      ['a', 1],
      ['a', '1'],
    ],
  ])
}

/** The same key, written differently: a number of either kind, a letter with its accent in one piece or in two. */
export function twins(stage: Stage): readonly Pair[] {
  return pairs(stage, 'one lock', [
    [[7], [7n]],
    [['caf\u00e9'], ['cafe\u0301']],
  ])
}

function pairs(
  stage: Stage,
  are: Pair['are'],
  written: readonly (readonly [Parts, Parts])[],
): readonly Pair[] {
  const key = stage.keyOf('alike')
  const own: Parts = isRawKey(key) ? [] : [key].flat()
  return written.map(([one, other]) => ({
    one: [...own, ...one],
    other: [...own, ...other],
    are,
    written: `${show(one)} and ${show(other)}`,
  }))
}

function show(parts: Parts): string {
  return `[${parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : `${part}`)).join(', ')}]`
}
