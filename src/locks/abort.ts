/**
 * What `work` gives, unless the signal aborts first: then `interrupt` runs and the signal's reason is thrown, without
 * waiting for work that may never end.
 */
export function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  interrupt: () => void,
): Promise<T> {
  return signal === undefined ? work : raceAgainst(signal, work, interrupt)
}

async function raceAgainst<T>(signal: AbortSignal, given: Promise<T>, interrupt: () => void): Promise<T> {
  const work = Promise.resolve(given) // from JavaScript it may be anything
  const { aborted, stop } = abortOf(signal)
  try {
    const first = await Promise.race([work, aborted])
    if (first !== aborting) return first
    interrupt()
    throw signal.reason
  } finally {
    stop()
    work.catch(() => {}) // whoever aborted has the reason instead
  }
}

const aborting = Symbol('aborted')

function abortOf(signal: AbortSignal): {
  readonly aborted: Promise<typeof aborting>
  readonly stop: () => void
} {
  const told: { stop: () => void } = { stop: () => {} }
  const aborted = new Promise<typeof aborting>((resolve) => {
    if (signal.aborted) return resolve(aborting)
    const tell = (): void => resolve(aborting)
    signal.addEventListener('abort', tell, { once: true })
    told.stop = () => signal.removeEventListener('abort', tell)
  })
  return { aborted, stop: () => told.stop() }
}
