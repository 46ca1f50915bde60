import { claimChannel, jobChannel } from './channels.ts'
import type { ClaimEvent, JobEvent } from './shapes.ts'
import { trace } from './trace.ts'

/** Tells of a job that a worker has in hand. `run` notes on the event how it ended. */
export function tellJob<T>(
  asked: () => JobEvent,
  run: (event: JobEvent | undefined) => Promise<T>,
): Promise<T> {
  if (!jobChannel.hasSubscribers) return run(undefined)
  const event = asked()
  const tellFailure = (result: T): T => {
    // a worker goes on with the next job: nothing rejects
    if (event.error !== undefined) jobChannel.error.publish(event)
    return result
  }
  return trace(jobChannel, event, () => run(event).then(tellFailure))
}

export function tellClaim(claimed: () => ClaimEvent): void {
  if (claimChannel.hasSubscribers) claimChannel.publish(claimed())
}
