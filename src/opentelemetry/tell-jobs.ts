import type { ClaimEvent, JobEvent } from '../events/shapes.ts'
import { spanKind } from './api.ts'
import { Calls } from './calls.ts'
import type { Telemetry } from './telemetry.ts'
import { idWords, known, placeWords, type Wording } from './words.ts'

export function tellJobs(to: Telemetry, wording: Wording): Calls<JobEvent> {
  return new Calls(to, wording, {
    nameOf: ({ queue }) => `job ${queue}`,
    kind: spanKind.consumer,
    asStarted: (event) =>
      known({
        ...placeWords(wording, event),
        'db.operation.name': 'job',
        'db.collection.name': event.queue,
        'holdfast.job.id': idWords(wording, event.id),
        'holdfast.job.attempts': event.attempts,
      }),
    asEnded: (event) => known({ ...placeWords(wording, event), 'holdfast.job.outcome': event.outcome }),
    measure: (event, { seconds, context, failure }) => {
      const attributes = known({
        ...placeWords(wording, event),
        'db.collection.name': event.queue,
        'holdfast.job.outcome': event.outcome,
      })
      to.record('jobDuration', seconds, { attributes: { ...attributes, ...failure }, context })
    },
  })
}

/** What tells of claims. */
export function tellClaims(to: Telemetry, wording: Wording): (event: ClaimEvent) => void {
  return (event) => {
    const attributes = known({ ...placeWords(wording, event), 'db.collection.name': event.queue })
    const isEmpty = event.jobs === 0
    to.record('queueClaims', 1, { attributes: { ...attributes, 'holdfast.claim.empty': isEmpty } })
    if (!isEmpty) to.record('queueJobs', event.jobs, { attributes })
  }
}
