import { areLocksHeard, lockStory, type LockAsked, type LockStory } from '../../events/lock-story.ts'
import { placeOf, type Whence } from '../event-place.ts'
import type { OpenTransaction } from '../port.ts'

/** What a lock of a transaction is told by. */
export type Told = Omit<LockAsked, 'adapter' | 'dialect' | 'transaction'>

/** The stories of locks that a transaction is opened with. Undefined where nobody listens. */
export function tellOpening(port: Whence, asked: () => readonly Told[]): LockStory[] | undefined {
  if (!areLocksHeard()) return undefined
  const place = placeOf(port)
  return asked().map((one) => lockStory({ ...place, ...one }))
}

/** They are held until the transaction ends. */
export function tellGranted(open: OpenTransaction<unknown>, stories: readonly LockStory[]): void {
  const { dialect, event: transaction, storiesEnd } = open
  for (const story of stories) {
    story.granted({ dialect: dialect.name, transaction })
    // of a call that nobody waited for, the answer may come behind the end
    if (storiesEnd === undefined) (open.stories ??= []).push(story)
    else story.ended(storiesEnd.isLost)
  }
}

/** The transaction has ended, and its locks with it. They are lost where its connection broke, unless it was stored. */
export function tellEnded(open: OpenTransaction<unknown>): void {
  const { isInDoubt, isStored, atEnd, signal, stories } = open
  const isReleased = isStored && atEnd.length === 0
  const isLost = isInDoubt() && !isReleased && signal?.aborted !== true
  open.storiesEnd = { isLost }
  open.stories = undefined
  for (const story of stories ?? []) story.ended(isLost)
}

/** Tells of a lock that is taken in a transaction under way. */
export function tellInside<T>(
  open: OpenTransaction<unknown>,
  asked: () => Told,
  take: () => Promise<T>,
): Promise<T> {
  if (!areLocksHeard()) return take()
  const { dialect, event: transaction, adapter } = open
  const story = lockStory({ adapter, dialect: dialect.name, transaction, ...asked() })
  return take().then(
    (taken) => {
      tellGranted(open, [story])
      return taken
    },
    (error: unknown) => {
      story.refused(error, [dialect])
      throw error
    },
  )
}
