import { leaseChannel, leaseEndedChannel } from './channels.ts'
import { areHeard, HoldStory } from './hold-story.ts'
import type { LeaseEvent } from './shapes.ts'

export type LeaseStory = HoldStory<LeaseEvent>

const channels = { asking: leaseChannel, ended: leaseEndedChannel }

/** Tells that a lease is asked for. Undefined where nobody listens. */
export function leaseStory(asked: () => LeaseEvent): LeaseStory | undefined {
  return areHeard(channels) ? new HoldStory(channels, asked()) : undefined
}
