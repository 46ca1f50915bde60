import type { Permit } from '../../locks/semaphore/semaphore.ts'
import { overlooksLine } from '../controls/semaphore-defects.ts'
import { unlocked } from '../controls.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { short } from './taking-leases.ts'
import { expectNoPermit, takePermit, untilAtDoor, untilDoorIsFree } from './taking-permits.ts'

/** Permits: so many holders at a time, and those who wait for one. */
export const semaphoreLaws: readonly Law[] = [
  defineLaw({
    id: 'P1',
    says: 'A semaphore lets in as many holders as it has permits, and the next one when one of them is released.',
    features: ['lease'],
    trial: full,
    control: unlocked,
  }),
  defineLaw({
    id: 'P2',
    says: 'However many ask at once, there are never more holders than permits, and everybody gets one in the end.',
    features: ['lease'],
    trial: contended,
    control: unlocked,
  }),
  defineLaw({
    id: 'P3',
    says: 'Those of one process that wait for a permit get it in the order of asking.',
    features: ['lease'],
    trial: inOrder,
    control: unlocked,
  }),
  defineLaw({
    id: 'P4',
    says: 'Nobody gets a permit, even a free one, while another is first in the line.',
    features: ['lease'],
    trial: behindTheFirst,
    control: overlooksLine,
  }),
  defineLaw({
    id: 'P5',
    says: 'The permit of a holder that is no longer heard of goes to the next waiter when it has expired.',
    features: ['lease'],
    trial: lost,
    control: unlocked,
  }),
  defineLaw({
    id: 'P6',
    says: 'A waiter that gives up on a permit holds neither a permit nor its place in the line.',
    features: ['lease'],
    trial: givenUp,
    control: unlocked,
  }),
  defineLaw({
    id: 'P7',
    says: 'More permits let in more, fewer take none away: nobody gets a slot beyond the number that it names.',
    features: ['lease'],
    trial: changed,
    control: unlocked,
  }),
]

async function full(stage: Stage): Promise<void> {
  const permits = 2
  const first = await takePermit(stage, { actor: 'a', permits })
  const second = await takePermit(stage, { actor: 'b', permits })
  stage.expect(first.slot !== second.slot, `two have the slot ${first.slot}`)
  await expectNoPermit(stage, { actor: 'c', permits })
  const waiting = takePermit(stage, { actor: 'c', permits })
  waiting.catch(() => {}) // looked at below
  await stage.untilWaiting('who wants a third permit', waiting)
  await first.release()
  const third = await waiting
  stage.expect(third.slot === first.slot, `the slot ${third.slot} was not free`)
  stage.expect(third.fence > first.fence, 'the fence has not risen')
  await second.extend()
}

async function contended(stage: Stage): Promise<void> {
  const permits = 2
  let inside = 0
  let most = 0
  const contend = async (actor: string): Promise<void> => {
    const permit = await takePermit(stage, { actor, permits })
    inside += 1
    most = Math.max(most, inside)
    await permit.extend() // gives others the time to come in
    inside -= 1
    await permit.release()
  }
  const actors = ['a', 'b', 'c'].flatMap((actor) => [actor, actor, actor])
  await Promise.all(actors.map(contend))
  stage.expect(most <= permits, `${most} had one of ${permits} permits at a time`)
}

async function inOrder(stage: Stage): Promise<void> {
  const holder = await takePermit(stage, { actor: 'a' })
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (place) => {
    const permit = await takePermit(stage, { actor: 'b' })
    order.push(place)
    await permit.release()
  })
  const all = Promise.all(waiting)
  all.catch(() => {}) // looked at below
  await untilAtDoor(stage, all)
  await holder.release()
  await all
  stage.expect(order.join() === '1,2,3', `they had it in the order ${order.join()}`)
}

/** One who names fewer permits waits, so that one is free for another who names more. */
async function behindTheFirst(stage: Stage): Promise<void> {
  const holder = await takePermit(stage, { actor: 'a' })
  // the place in the line lasts for a part of this: a machine may be so busy that it is not confirmed for a while
  const waiting = takePermit(stage, { actor: 'b', ttlMs: 600_000 })
  waiting.catch(() => {}) // looked at below
  await untilAtDoor(stage, waiting)
  await expectNoPermit(stage, { actor: 'c', permits: 2 })
  await expectNoPermit(stage, { actor: 'a', permits: 2 })
  const later = takePermit(stage, { actor: 'c', permits: 2 })
  later.catch(() => {}) // looked at below
  await stage.untilWaiting('who comes later, to a free permit', later)
  await holder.release()
  const next = await waiting
  stage.expect(next.slot === holder.slot, `the first in the line has got the slot ${next.slot}`)
  stage.expect((await later).slot === 1, 'who came later has got the slot of the first')
}

async function lost(stage: Stage): Promise<void> {
  const first = await takePermit(stage, { actor: 'a', ...short(stage) })
  const second = await takePermit(stage, { actor: 'b' })
  stage.expect(second.fence > first.fence, 'the fence has not risen')
  stage.expect(first.signal.aborted, 'another has the permit, and its first holder was not told')
  await first.release()
  await expectNoPermit(stage, { actor: 'a' })
}

async function givenUp(stage: Stage): Promise<void> {
  const holder = await takePermit(stage, { actor: 'a' })
  const giveUp = new AbortController()
  const waiting = takePermit(stage, { actor: 'b', signal: giveUp.signal })
  const refusal = waiting.then(
    () => undefined,
    (error: unknown) => error,
  )
  await untilAtDoor(stage, waiting)
  giveUp.abort()
  stage.expect((await refusal) === giveUp.signal.reason, 'who gave up has got the permit')
  await untilDoorIsFree(stage)
  await holder.release()
  const next = await takePermit(stage, { actor: 'c', wait: 'nowait' })
  stage.expect(next.fence > holder.fence, 'the fence has not risen')
}

async function changed(stage: Stage): Promise<void> {
  const first = await takePermit(stage, { actor: 'a' })
  await expectNoPermit(stage, { actor: 'b' })
  const more: Permit = await takePermit(stage, { actor: 'b', permits: 2, wait: 'nowait' })
  stage.expect(more.slot === 1, `who names two permits has got the slot ${more.slot}`)
  await expectNoPermit(stage, { actor: 'c', permits: 2 })
  // fewer again: the one that is too many is held for as long as its holder likes
  await first.release()
  const next = await takePermit(stage, { actor: 'c', wait: 'nowait' })
  stage.expect(next.slot === 0, `who names one permit has got the slot ${next.slot}`)
  await more.extend()
  await more.release()
  await expectNoPermit(stage, { actor: 'a' })
}
