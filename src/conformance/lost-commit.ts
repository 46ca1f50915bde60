import type { Session } from '../core/session.ts'
import { cutterOf, errorOf } from './cut.ts'
import type { Ground } from './ground.ts'
import type { Fault } from './subject.ts'

/** When the connection breaks: before COMMIT reaches the server, or before its answer comes back. */
export type Break = 'before' | 'after'

/**
 * A wire that breaks at the first COMMIT.
 *
 * Where the server can end a connection, it does. Where it cannot, or nobody would see it, a transaction outlives its
 * connection, and only the answer is lost.
 */
export async function breakingAtCommit(ground: Ground, when: Break): Promise<Fault> {
  const isUnseen = when === 'after' && ground.subject.isUnpinned === true
  const lost = await (ground.facts.canKill ? isUnseen && transactionError(ground) : poolError(ground))
  let isWhole = true
  return (session) => {
    const commit = async (): Promise<void> => {
      if (!isWhole) return session.commit()
      isWhole = false
      const cut = lost instanceof Error ? async () => lost : await cutterOf(ground, session.run)
      if (when === 'after') await session.commit()
      throw await cut()
    }
    return Object.create(session, { commit: { value: commit } }) as Session<object>
  }
}

/** What the driver says when the connection of another transaction was ended. */
async function transactionError(ground: Ground): Promise<Error> {
  const session = await ground.observer.sessions.open()
  await session.begin()
  const cut = await cutterOf(ground, session.run)
  const error = await cut()
  await session.destroy(error)
  return error
}

/** What the driver says when its pool has no connection any more. */
async function poolError({ subject, facts }: Ground): Promise<Error> {
  const { sessions, close } = await subject.connect(1)
  await close()
  const error = await errorOf(sessions.open().then((session) => session.run(facts.dialect.identity.ask)))
  if (error instanceof Error) return error
  throw new TypeError('a pool that was closed still lends connections')
}
