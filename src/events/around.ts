/** Runs what it is given, at once and exactly once, and gives what that gives. */
export type Around = <T>(run: () => Promise<T>) => Promise<T>

/*
 * By its event, what a call is run by. A store that is bound to the channel would be the plainer way, but Node 26.1 no
 * longer calls `run` of the store, so that one which belongs to somebody else cannot be entered by it.
 */
const arounds = new WeakMap<object, Around>()

/** For subscribers of ours that hear `start`: what the event tells of is run by `around`. */
export function runBy(event: object, around: Around): void {
  arounds.set(event, around)
}

/** Runs what the event tells of, which has been told as started. */
export function runAround<T>(event: object, run: () => Promise<T>): Promise<T> {
  const around = arounds.get(event)
  return around === undefined ? run() : around(run)
}
