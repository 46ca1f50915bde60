import { LockError } from '../../core/errors.ts'
import type { Session, Sessions } from '../../core/session.ts'
import { inGrace, NoAnswerError } from '../limit.ts'
import { createHolder, type Holder, type HolderEvents } from './holder.ts'
import { sessionEnd } from '../session-end.ts'

/** One more connection, which may come late or never. */
export interface Wanted {
  readonly arrived: Promise<Holder>
  /** It is not wanted any more. One that has arrived goes back, unless a name was reserved on it. */
  readonly cancel: () => void
}

/** Where new connections come from, for those who may lose interest while they wait. */
export interface Openings {
  readonly want: () => Wanted
}

export interface OpeningsPort<Tx> {
  readonly sessions: Sessions<Tx>
  /** Refuses a server whose connections cannot hold locks. */
  readonly checkServer: (session: Session<Tx>) => Promise<void>
  readonly events: HolderEvents & { readonly onStart: (holder: Holder) => void }
}

interface Wanter {
  readonly give: (holder: Holder) => void
  readonly fail: (why: unknown) => void
}

/**
 * A pool cannot be told that a connection is not wanted any more. So whoever wants one next takes over what the last
 * one has left in the pool's line: that line grows no longer than the wanters are many at one time. What arrives for
 * nobody goes straight back.
 */
export function createOpenings<Tx>(port: OpeningsPort<Tx>): Openings {
  const wanters = new Set<Wanter>()
  let pending = 0
  const openMissing = (): void => {
    if (pending < wanters.size) void openOne()
  }
  const openOne = async (): Promise<void> => {
    pending += 1
    try {
      const holder = await open(port, () => wanters.size > 0)
      if (holder !== undefined) (first(wanters) ?? nobody).give(holder)
    } catch (error) {
      ;(first(wanters) ?? nobody).fail(error)
    } finally {
      pending -= 1
      openMissing()
    }
  }
  return {
    want: () => {
      const wanter: { current?: Wanter } = {}
      const arrived = new Promise<Holder>((give, fail) => {
        wanters.add((wanter.current = { give, fail }))
      })
      arrived.catch(() => {}) // told to whoever still waits for it
      openMissing()
      const cancel = (): void => {
        const isLeft = wanter.current !== undefined && wanters.delete(wanter.current)
        if (!isLeft) void arrived.then((holder) => holder.endIfEmpty()).catch(() => {})
      }
      return { arrived, cancel }
    },
  }
}

const nobody: Wanter = { give: ({ endIfEmpty }) => endIfEmpty(), fail: () => {} }

function first(wanters: Set<Wanter>): Wanter | undefined {
  const [wanter] = wanters
  if (wanter !== undefined) wanters.delete(wanter)
  return wanter
}

/** A connection that was looked at. Undefined when nobody wanted it by the time it came. */
async function open<Tx>(
  { sessions, checkServer, events }: OpeningsPort<Tx>,
  isWanted: () => boolean,
): Promise<Holder | undefined> {
  const session = await sessions.open()
  const ending = sessionEnd(session)
  if (!isWanted()) {
    void ending.end()
    return undefined
  }
  try {
    await inGrace(checkServer(session)) // all who come later wait for it too
    const holder = createHolder(session, events)
    events.onStart(holder)
    return holder
  } catch (error) {
    // a server that was asked and refused has left the connection as it was
    if (!(error instanceof LockError) || error instanceof NoAnswerError) ending.doubt(error)
    void ending.end()
    throw error
  }
}
