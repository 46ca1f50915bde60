import { chosenLeaseName } from '../../core/lease-name.ts'
import { permitNames } from '../../core/permit-name.ts'
import type { PermitOptions, SemaphoreOptions } from '../../locks/semaphore/options.ts'
import type { Permit } from '../../locks/semaphore/semaphore.ts'
import { settledOf, type Stage } from '../stage.ts'
import { expectRefusal, kept, until } from './taking.ts'
import { long } from './taking-leases.ts'

/** A permit that some client asks for. */
export interface PermitTaking extends Partial<SemaphoreOptions>, PermitOptions {
  readonly actor: string
  /** @default 1 */
  readonly permits?: SemaphoreOptions['permits']
}

/** Takes a permit for a law that needs to look at it. Every law has one semaphore. */
export async function takePermit(stage: Stage, taking: PermitTaking): Promise<Permit> {
  const { actor, wait, signal = stage.signal, permits = 1, ...terms } = taking
  const { locks } = await stage.client(actor)
  const semaphore = locks.semaphore(stage.keyOf('k'), { ...long, permits, ...terms })
  const asked = semaphore.acquire({ signal, ...(wait !== undefined && { wait }) })
  return kept(stage, { actor, does: 'take a permit', asked })
}

/** Breaks the law unless there is no permit for whoever does not wait. */
export function expectNoPermit(stage: Stage, taking: PermitTaking): Promise<void> {
  const does = `${taking.actor}: take a permit, of which there is none`
  const taken = takePermit(stage, { ...taking, wait: 'nowait' })
  return expectRefusal(stage, { does, code: 'LOCK_NOT_AVAILABLE' }, taken)
}

/** Waits until somebody stands first in the line of the semaphore. Breaks the law when this ends instead. */
export function untilAtDoor(stage: Stage, waiting: Promise<unknown>): Promise<void> {
  const isSettled = settledOf(waiting)
  return until(stage, 'somebody is first in the line', async () => {
    const isTaken = await isDoorTaken(stage)
    stage.expect(!isSettled(), 'who wants a permit, and there is none, did not wait')
    return isTaken
  })
}

/** Waits until nobody stands in the line any more. */
export function untilDoorIsFree(stage: Stage): Promise<void> {
  return until(stage, 'nobody is first in the line', async () => !(await isDoorTaken(stage)))
}

async function isDoorTaken(stage: Stage): Promise<boolean> {
  const { door } = permitNames(chosenLeaseName(stage.keyOf('k')))
  const { leases } = await stage.ground.observer.locks.inspect()
  return leases.some(({ name, owner }) => name === door && owner !== undefined)
}
