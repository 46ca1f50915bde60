import type { Connected } from '../conformance/subject.ts'
import { released, type Session, type Sessions } from '../core/session.ts'
import { atMost } from './within.ts'

/** How long whatever is still open may take to end before it is left to itself. */
const patienceMs = 5000

/** A pool that can be closed at any time: what is still open in it is ended first, on the server too. */
export function endable<Tx extends object>(sessions: Sessions<Tx>, end: () => Promise<unknown>): Connected {
  const open = new Set<Session<Tx>>()
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const why = closed()
    const left = [...open]
    open.clear()
    await atMost(patienceMs, Promise.allSettled(left.map((session) => session.destroy(why))))
    await atMost(patienceMs, end())
  }
  return {
    sessions: {
      ...sessions,
      open: async () => {
        // after the end the driver says in its own words that there is no connection to be had
        const isLate = closing !== undefined
        const session = await sessions.open()
        if (closing !== undefined && !isLate) {
          const why = closed()
          await session.destroy(why)
          throw why
        }
        open.add(session)
        return forgotten(session, () => open.delete(session))
      },
    },
    close: () => (closing ??= close()),
  }
}

function closed(): Error {
  return new Error('the pool was closed')
}

/** The same session, which tells when it is given back. Ends nothing that is ended already: `forget` says so. */
function forgotten<Tx>(session: Session<Tx>, forget: () => boolean): Session<Tx> {
  return {
    ...session,
    // a driver may have another one for each transaction
    get tx() {
      return session.tx
    },
    release: () => (forget() ? session.release() : released),
    destroy: async (why) => {
      if (forget()) await session.destroy(why)
    },
  }
}
