import { setTimeout as pause } from 'node:timers/promises'

import { deferred } from './deferred.ts'

export interface MeetingOptions {
  /** Ends the waiting with its reason. */
  readonly signal: AbortSignal
  /** How long somebody waits who stays alone. @default until the signal */
  readonly patienceMs?: number
}

/** A place where the first so many wait for each other. Whoever comes later passes by. */
export function meetingOf(size: number, { signal, patienceMs }: MeetingOptions): () => Promise<void> {
  const full = deferred<void>()
  let present = 0
  signal.addEventListener('abort', () => full.reject(signal.reason), { once: true })
  return async () => {
    present += 1
    if (present >= size) full.resolve()
    const patience = patienceMs === undefined ? [] : [pause(patienceMs)]
    await Promise.race([full.promise, ...patience])
  }
}
