/** Numbers from 0 to 1 that are the same for the same seed. */
export interface Random {
  readonly next: () => number
  readonly below: (limit: number) => number
  readonly pick: <T>(choices: readonly T[]) => T
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick: Random['pick'] = (choices) => {
    const [picked] = choices.slice(below(choices.length))
    if (picked === undefined) throw new Error('there is nothing to pick from')
    return picked
  }
  return { next, below, pick }
}
