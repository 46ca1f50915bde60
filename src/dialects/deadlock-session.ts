import type { DeadlockedSession } from '../core/deadlock.ts'
import { textOf } from './inspect-session.ts'

/** What may be told of a session, or not. */
type Told = { readonly [K in 'user' | 'application' | 'statement']?: unknown } & {
  readonly waits?: DeadlockedSession['waits'] | undefined
  readonly ran?: readonly string[] | undefined
}

/** One of those in a deadlock. What the server leaves empty is absent. */
export function deadlockedSession(
  { id, isVictim, holds }: Pick<DeadlockedSession, 'id' | 'isVictim' | 'holds'>,
  told: Told,
): DeadlockedSession {
  const [user, application, statement] = [textOf(told.user), textOf(told.application), textOf(told.statement)]
  return {
    id,
    isVictim,
    ...(user === undefined ? {} : { user }),
    ...(application === undefined ? {} : { application }),
    ...(told.waits === undefined ? {} : { waits: told.waits }),
    holds,
    ...(statement === undefined ? {} : { statement }),
    ...(told.ran === undefined || told.ran.length === 0 ? {} : { ran: told.ran }),
  }
}
