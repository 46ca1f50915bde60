const lastTurns = new WeakMap<object, Promise<void>>()

/** Waits until everybody who asked for `thing` before has ended their turn. Gives what ends this one. */
export function turnOn(thing: object): Promise<() => void> {
  const before = lastTurns.get(thing) ?? Promise.resolve()
  return new Promise((begin) => {
    const turn = new Promise<void>((end) => void before.then(() => begin(end)))
    lastTurns.set(thing, turn)
  })
}

/** Runs `step` when everybody who asked for `thing` before has ended their turn. */
export async function inTurn<T>(thing: object, step: () => Promise<T>): Promise<T> {
  const endTurn = await turnOn(thing)
  try {
    return await step()
  } finally {
    endTurn()
  }
}

/** Waits until nobody has a turn on `thing`, or wants one. */
export async function untilNoTurns(thing: object): Promise<void> {
  for (let last = lastTurns.get(thing); last !== undefined;) {
    await last
    const next = lastTurns.get(thing)
    last = next === last ? undefined : next
  }
}
