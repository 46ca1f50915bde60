import type { LeaseEvent } from '../events/shapes.ts'
import { Holds } from './holds.ts'
import type { Telemetry } from './telemetry.ts'
import { keyWords, known, placeWords, timeoutOf, waitWords, type Wording } from './words.ts'

export function tellLeases(to: Telemetry, wording: Wording): Holds<LeaseEvent> {
  return new Holds(to, wording, {
    nameOf: () => 'lease',
    asMeasured: (event) => known(placeWords(wording, event)),
    asAnswered: (event) =>
      known({
        ...placeWords(wording, event),
        'db.operation.name': 'lease',
        'holdfast.key': keyWords(wording, event.key),
        'holdfast.wait': waitWords(event.wait),
        'holdfast.timeout': timeoutOf(event.wait),
        'holdfast.lease.ttl': event.ttlMs / 1000,
        'holdfast.lease.fence': event.fence,
      }),
    metrics: {
      wait: 'leaseWait',
      hold: 'leaseHold',
      held: 'leaseHeld',
      timeouts: 'leaseTimeouts',
      lost: 'leaseLost',
    },
    parentOf: () => undefined,
    isLasting: () => true,
  })
}
