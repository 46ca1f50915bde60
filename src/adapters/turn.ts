const lastTurns = new WeakMap<object, Promise<void>>()

/** Waits until everybody who asked for `thing` before has ended their turn. Gives what ends this one. */
export function turnOn(thing: object): Promise<() => void> {
  const before = lastTurns.get(thing) ?? Promise.resolve()
  return new Promise((begin) => {
    const turn = new Promise<void>((end) => void before.then(() => begin(end)))
    lastTurns.set(thing, turn)
  })
}
