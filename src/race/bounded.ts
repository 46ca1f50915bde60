/** How long the user's own code may take, and what ends the wait for it. */
export interface Bounds {
  readonly hangMs: number
  readonly signal: AbortSignal | undefined
}

/** Waits for code of the user's that is no actor. It cannot be ended: whoever gives up only goes on without it. */
export function bounded(
  work: () => unknown,
  { hangMs, signal }: Bounds,
): Promise<'ended' | 'hang' | 'aborted'> {
  if (signal?.aborted === true) return Promise.resolve('aborted')
  return new Promise((resolve, reject) => {
    const onAbort = (): void => end(() => resolve('aborted'))
    const timer = setTimeout(() => end(() => resolve('hang')), hangMs)
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      settle() // a second time does nothing: the work may end when nobody waits any longer
    }
    signal?.addEventListener('abort', onAbort)
    started(work).then(
      () => end(() => resolve('ended')),
      (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
    )
  })
}

/** What throws at once rejects. */
async function started(work: () => unknown): Promise<unknown> {
  return work()
}
