import type { Session } from '../../core/session.ts'
import { startHeartbeat } from './holder-heartbeat.ts'
import { lineOn, type Line } from './holder-line.ts'
import { createNames, type LockName, type Names } from './holder-names.ts'
import { sessionEnd } from '../session-end.ts'

/** One connection and the locks that it holds. When the last name is dropped, it goes back to where it came from. */
export interface Holder extends Pick<Line, 'run'> {
  readonly names: Pick<Names, 'size' | 'canTake' | 'reserve' | 'modeOf'>
  /** The connection was given back or destroyed. */
  readonly isOver: () => boolean
  /** A reserved name was granted. */
  readonly keep: Names['keep']
  /** It is certain that this connection does not hold the name. */
  readonly drop: (name: LockName) => void
  /** The connection has broken, or nobody knows what it holds: it is destroyed, and all of its locks are lost. */
  readonly fail: (why: Error) => void
  /** When a connection that has failed is gone from the server, or cannot be waited for any longer. */
  readonly gone: () => Promise<void> | undefined
  /** Confirms every so often that the connection is alive. Gives what stops that. */
  readonly watch: (everyMs: number) => () => void
  /** Gives the connection back, if it holds nothing. */
  readonly endIfEmpty: () => void
}

export interface HolderEvents {
  /** Told once, before the connection is given back or destroyed. */
  readonly onEnd: (holder: Holder) => void
  readonly onDrop: (name: LockName) => void
}

export function createHolder(session: Session, events: HolderEvents): Holder {
  const names = createNames()
  const line = lineOn(session)
  const { end, fail, gone, isOver } = endings({ session, line, names }, () => events.onEnd(holder))
  const endIfEmpty = (): void => {
    if (names.size === 0) end()
  }
  const holder: Holder = {
    names,
    run: line.run,
    isOver,
    keep: (name, lock) => {
      if (isOver()) lock.lose(new Error('the connection ended when the lock was granted'))
      else names.keep(name, lock)
    },
    drop: (name) => {
      if (names.drop(name)) events.onDrop(name)
      endIfEmpty()
    },
    fail,
    gone,
    watch: (everyMs) => startHeartbeat(line, everyMs, fail),
    endIfEmpty,
  }
  return holder
}

interface Endings {
  readonly end: () => void
  readonly fail: (why: Error) => void
  readonly gone: () => Promise<void> | undefined
  readonly isOver: () => boolean
}

/** The two ways in which a connection ends, of which only the first counts. */
function endings({ session, line, names }: Parts, onEnd: () => void): Endings {
  const ending = sessionEnd(session)
  let isOver = false
  const isFirst = (): boolean => {
    if (isOver) return false
    isOver = true
    stopListening?.()
    onEnd()
    return true
  }
  const fail = (why: Error): void => {
    if (!isFirst()) return
    line.close(why)
    ending.doubt(why)
    void ending.end()
    for (const lock of names.dropAll()) lock.lose(why)
  }
  const stopListening = session.onLost?.(fail)
  return {
    fail,
    gone: () => (ending.isInDoubt() ? ending.end() : undefined),
    isOver: () => isOver,
    // what keeps the connection alive may still be under way
    end: () => void (isFirst() && line.idle().then(ending.end)),
  }
}

interface Parts {
  readonly session: Session
  readonly line: Line
  readonly names: Names
}
