import type { Inspection } from '../core/inspection.ts'
import type { Session, Sessions } from '../core/session.ts'
import { meet } from '../locks.ts'
import { findDialect, registry, type DialectName } from '../registry.ts'
import type { Inspector } from '../dialects/tools.ts'

/** Looks at the server from a connection of its own. */
export interface Observer {
  /** Undefined where this engine does not show who waits. */
  readonly look: () => Promise<Inspection | undefined>
  /** What the server calls the session that runs this. */
  readonly self: () => Promise<Inspector['self']>
  /** Ends a session from the server's side, and waits until it is gone. */
  readonly kill: (id: string) => Promise<void>
  readonly close: () => Promise<void>
}

const goneWithinMs = 5000

/** Looks with what the dialects know about their servers. `close` ends the connection. */
export function observerOf(
  sessions: Sessions,
  dialects: readonly DialectName[],
  close: () => Promise<void>,
): Observer {
  const { inspect } = meet(sessions, dialects.map(findDialect)).shared
  let known: Inspector | undefined
  const inspector = async (): Promise<Inspector> => (known ??= await inspectorOf((await inspect()).dialect))
  return {
    look: async () => ((await inspector()).showsWaiting ? inspect() : undefined),
    self: async () => (await inspector()).self,
    kill: async (id) => {
      const { kill } = await inspector()
      if (kill === undefined) return
      // it may have ended by itself
      await withSession(sessions, (session) => session.run(kill(id))).catch(() => {})
      const deadline = performance.now() + goneWithinMs
      while ((await inspect()).sessions.some((session) => session.id === id)) {
        if (performance.now() > deadline) return
      }
    },
    close,
  }
}

async function inspectorOf(name: string): Promise<Inspector> {
  const dialect = registry[name as DialectName]
  return (await dialect.tools()).inspector
}

async function withSession<T>(sessions: Sessions, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await sessions.open()
  try {
    return await work(session)
  } finally {
    await session.release()
  }
}
