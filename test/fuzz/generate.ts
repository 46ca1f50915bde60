import type { Random } from '../faults/random.ts'
import type { Body, Break, Deed, Failing, Manner, RowWait, Step } from './body.ts'

/** What a way into the library can do besides statements. */
export interface Abilities {
  readonly words: readonly ('commit' | 'rollback' | 'begin')[]
  readonly isolations: readonly NonNullable<Body['options']['isolation']>[]
  readonly canKill: boolean
  readonly canStream: boolean
  readonly canDerive: boolean
  readonly canSkip: boolean
  readonly failures: readonly Failing[]
  /** Whether a statement can take the next number of a table. */
  readonly canNumber: boolean
  /** Whether the network can be broken. @default false */
  readonly canBreak?: boolean
  /** Whether `tx` is tried when its transaction is over. @default true */
  readonly canBeLate?: boolean
}

/** A body that nobody would show in a manual. */
export function generateBody(random: Random, abilities: Abilities): Body {
  const length = 1 + random.below(6)
  const chance = (part: number): boolean => random.next() < part
  const isolation =
    chance(0.25) && abilities.isolations.length > 0 ? random.pick(abilities.isolations) : undefined
  const call = chance(0.3) ? 'withLock' : 'transaction'
  const end = chance(0.2) ? 'throw' : 'return'
  const network = abilities.canBreak === true && chance(0.3) ? breakOf(random) : undefined
  const hasTwin = call === 'withLock' && abilities.canNumber && network === undefined && chance(0.4)
  return {
    call,
    options: {
      ...(isolation && { isolation }),
      // a network that swallows everything ends nothing by itself
      ...(network?.how === 'silent' && { budgetMs: 500 }),
      ...(call === 'withLock' && chance(0.4) && { wait: { timeoutMs: 10_000 } }),
      ...(chance(0.3) && { lockTimeoutMs: random.pick([50, 300]) }),
      ...(chance(0.3) && { attempts: random.pick([1, 2]) }),
    },
    hasRival: network === undefined && chance(0.4),
    hasTwin,
    ...(network && { network }),
    steps: [
      ...Array.from({ length }, () => stepOf(random, abilities, 1)),
      // an abort that meets the work's own error
      ...(end === 'throw' && chance(0.3) ? [abortOf(random)] : []),
    ],
    end,
    late: abilities.canBeLate !== false && chance(0.25) ? [{ do: 'write', manner: 'catch' }] : [],
  }
}

function stepOf(random: Random, abilities: Abilities, depth: number): Step {
  const manner = random.pick<Manner>(['await', 'await', 'catch', 'catch', 'float'])
  return { ...deedOf(random, abilities, depth), manner }
}

function deedOf(random: Random, abilities: Abilities, depth: number): Deed {
  const row = (): number => 1 + random.below(2)
  const common: (() => Deed)[] = [
    () => ({ do: 'write' }),
    () => ({ do: 'write' }),
    () => ({ do: 'write' }),
    () => ({ do: 'bump', row: row() }),
    () => ({ do: 'bump', row: row() }),
    () => ({ do: 'fail', by: random.pick(abilities.failures) }),
    () => rowsOf(random, abilities, row()),
    () => rowsOf(random, abilities, row()),
    () => ({ do: 'turn' }),
  ]
  const rare: (() => Deed)[] = [
    () => ({ do: 'name', wait: random.pick(['block', 'nowait', { timeoutMs: 40 }]) }),
    () => abortOf(random),
    ...(abilities.words.length > 0 ? [(): Deed => ({ do: 'say', word: random.pick(abilities.words) })] : []),
    ...(abilities.canKill ? [(): Deed => ({ do: 'kill' })] : []),
    ...(abilities.canStream ? [(): Deed => ({ do: 'stream', of: random.pick(streamed) })] : []),
    ...(abilities.canDerive ? [(): Deed => ({ do: 'helper' })] : []),
  ]
  if (depth > 0 && random.next() < 0.15) return together(random, abilities, depth)
  return random.pick(random.next() < 0.7 ? common : rare)()
}

type RowsDeed = Extract<Deed, { readonly do: 'rows' }>

const streamed = ['rows', 'locked rows', 'nonsense'] as const

function abortOf(random: Random): Step {
  return { do: 'abort', after: random.below(16), manner: 'await' }
}

function breakOf(random: Random): Break {
  return { at: random.pick(['commit', 'rollback']), how: random.pick(['before', 'after', 'silent']) }
}

function together(random: Random, abilities: Abilities, depth: number): Deed {
  if (random.next() < 0.3) return overlapping(random, abilities)
  const length = 2 + random.below(2)
  const one = (): Step => stepOf(random, abilities, depth - 1)
  // locks that are taken at once meet in more ways than other statements do
  const lock = (): Step => ({ ...rowsOf(random, abilities, 1 + random.below(2)), manner: 'await' })
  const branch = (): Step => {
    const step = random.next() < 0.5 ? lock() : one()
    if (random.next() < 0.6) return step
    return { do: 'sequence', steps: [{ do: 'write', manner: 'await' }, step], manner: step.manner }
  }
  return { do: 'together', steps: Array.from({ length }, branch) }
}

/** A lock that can be had and one that a rival may have, each with a savepoint: what one gives up is not the other's. */
function overlapping(random: Random, abilities: Abilities): Deed {
  const lock = (row: number): Step => ({
    ...rowsOf(random, abilities, row),
    savepoint: true,
    manner: 'catch',
  })
  const branches = [1, 2].map((row): Step => {
    if (random.next() < 0.5) return lock(row)
    return { do: 'sequence', steps: [{ do: 'write', manner: 'catch' }, lock(row)], manner: 'catch' }
  })
  return { do: 'together', steps: random.next() < 0.5 ? branches : branches.toReversed() }
}

function rowsOf(random: Random, { canSkip }: Abilities, row: number): RowsDeed {
  // a setting that is changed for it has to be put back; where settings count seconds, the short one changes none
  const timed = { timeoutMs: random.pick([40, 1000]) }
  const waits: RowWait[] = ['block', 'nowait', timed, timed, ...(canSkip ? ['skip' as const] : [])]
  return {
    do: 'rows',
    row,
    mode: random.next() < 0.75 ? 'exclusive' : 'shared',
    wait: random.pick(waits),
    savepoint: random.next() < 0.5,
  }
}
