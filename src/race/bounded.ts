/** How long the user's own code may take, and what ends the wait for it. */
export interface Bounds {
  readonly hangMs: number
  readonly signal: AbortSignal | undefined
}

/** Waits for code of the user's that is no actor. It cannot be ended: whoever gives up only goes on without it. */
export async function bounded(
  work: () => unknown,
  { hangMs, signal }: Bounds,
): Promise<'ended' | 'hang' | 'aborted'> {
  if (signal?.aborted === true) return 'aborted'
  let giveUp: (why: 'hang' | 'aborted') => void = () => {}
  const givenUp = new Promise<'hang' | 'aborted'>((resolve) => (giveUp = resolve))
  const timer = setTimeout(() => giveUp('hang'), hangMs)
  const onAbort = (): void => giveUp('aborted')
  signal?.addEventListener('abort', onAbort)
  const ended = (async (): Promise<'ended'> => {
    await work()
    return 'ended'
  })()
  ended.catch(() => {}) // it may fail when nobody waits any longer
  try {
    return await Promise.race([ended, givenUp])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
