import type { TracingChannel } from 'node:diagnostics_channel'

import { runAround } from './around.ts'

/**
 * Tells of what `run` does, from here to its end. Not by `tracePromise`, which writes into the event: where a subscriber
 * has frozen that, a call that has succeeded would reject.
 */
export function trace<Event extends object, T>(
  { start, end, error, asyncStart, asyncEnd }: TracingChannel,
  event: Event,
  run: () => Promise<T>,
): Promise<T> {
  const over = (): void => {
    asyncStart.publish(event)
    asyncEnd.publish(event)
  }
  return start.runStores(event, () => {
    const running = runAround(event, run)
    end.publish(event)
    return running.then(
      (result) => {
        over()
        return result
      },
      (reason: unknown) => {
        error.publish(event)
        over()
        throw reason
      },
    )
  })
}
