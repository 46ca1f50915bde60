import type { Session, Sessions } from '../../core/session.ts'
import { inDueTime } from '../in-due-time.ts'
import { sessionEnd } from '../session-end.ts'

/** Second connections for those who hold one already. */
export interface Spares<Tx> {
  /** Runs `work` on a lent connection or a new one; gives undefined, and runs nothing, when none comes in time. */
  readonly use: <T>(work: (session: Session<Tx>) => Promise<T>, waitMs: number) => Promise<T | undefined>
  /** Lends a connection until `done` has settled, and gives what that gives. */
  readonly lendUntil: <T>(session: Session<Tx>, done: Promise<T>) => Promise<T>
}

interface Spare<Tx> {
  readonly session: Session<Tx>
  readonly isLent: boolean
}

/**
 * Callers that all wait for one check may hold every connection of a pool between them, and the check needs one more:
 * so they lend theirs.
 */
export function createSpares<Tx>(sessions: Sessions<Tx>): Spares<Tx> {
  const lent = new Set<Session<Tx>>()
  let whenLent: ((session: Session<Tx>) => void) | undefined
  const borrow = (): Promise<Spare<Tx>> =>
    new Promise((resolve) => {
      const take = (session: Session<Tx>): void => resolve({ session, isLent: true })
      whenLent = take
      lent.forEach(take)
    })
  return {
    use: async (work, waitMs) => {
      const spare = lent.size > 0 ? await borrow() : await openOr(sessions, borrow(), waitMs)
      if (spare === undefined) return undefined
      return spare.isLent ? work(spare.session) : inOwn(spare.session, work)
    },
    lendUntil: async (session, done) => {
      lent.add(session)
      whenLent?.(session)
      try {
        return await done
      } finally {
        lent.delete(session)
      }
    },
  }
}

/** Whichever comes first. A connection that comes too late goes straight back. */
async function openOr<Tx>(
  sessions: Sessions<Tx>,
  borrowed: Promise<Spare<Tx>>,
  waitMs: number,
): Promise<Spare<Tx> | undefined> {
  const opening = sessions.open()
  let stop: (() => void) | undefined
  const tooLate = new Promise<undefined>((resolve) => {
    stop = inDueTime(waitMs, () => resolve(undefined))
  })
  const opened = opening.then((session) => ({ session, isLent: false }))
  const first = await Promise.race([opened, borrowed, tooLate]).finally(() => stop?.())
  if (first?.isLent !== false) void opening.then((session) => sessionEnd(session).end()).catch(() => {})
  return first
}

async function inOwn<Tx, T>(session: Session<Tx>, work: (session: Session<Tx>) => Promise<T>): Promise<T> {
  const ending = sessionEnd(session)
  try {
    return await work(session)
  } catch (error) {
    ending.doubt(error)
    throw error
  } finally {
    await ending.end()
  }
}
