import type { LockKey } from '../core/key.ts'
import type { Mutable } from '../core/mutable.ts'
import type { LockMode, TableName, Wait } from '../core/request.ts'
import { lockChannel, lockEndedChannel } from './channels.ts'
import { areHeard, HoldStory } from './hold-story.ts'
import type { EventPlace, LockEvent, TransactionEvent } from './shapes.ts'

/** What is known of a lock when it is asked for. */
export interface LockAsked extends EventPlace {
  readonly kind: LockEvent['kind']
  readonly key?: LockKey | undefined
  readonly table?: TableName | undefined
  readonly mode: LockMode
  readonly wait: Wait
  readonly transaction?: TransactionEvent | undefined
}

export type LockStory = HoldStory<LockEvent>

const channels = { asking: lockChannel, ended: lockEndedChannel }

/** Somebody listens to what becomes of locks. */
export function areLocksHeard(): boolean {
  return areHeard(channels)
}

/** Tells that a lock is asked for. Only called where somebody listens. */
export function lockStory(asked: LockAsked): LockStory {
  return new HoldStory(channels, eventOf(asked))
}

/** Its transaction is run again: what was granted before has ended. */
export function askAgain(story: LockStory): void {
  story.again((last) => {
    const { first = last } = last
    return { ...eventOf(last), first }
  })
}

function eventOf({ key, table, transaction, adapter, dialect, kind, mode, wait }: LockAsked): LockEvent {
  const event: Mutable<LockEvent> = { adapter, dialect, kind, mode, wait, transaction }
  if (key !== undefined) event.key = key
  if (table !== undefined) event.table = typeof table === 'string' ? table : table.join('.')
  return event
}
