import { setTimeout as pause } from 'node:timers/promises'

import { openUrl, type OpenUrl } from '../../connect/open.ts'
import { identify } from '../../locks/identify.ts'
import type { AskServer } from '../../locks/port.ts'
import { meet, type Meeting } from '../../locks.ts'
import { findDialect } from '../../registry.ts'

/** A server that answers. */
export interface Reached {
  readonly open: OpenUrl
  readonly meeting: Meeting<object>
  readonly server: AskServer
}

/** The way to a server that may go away and come back. */
export interface Way {
  /** The connections to it, which are made when there are none. Rejects with `ConnectError`. */
  readonly current: () => Promise<Reached>
  /** They are of no use any more: the next call makes new ones. */
  readonly forget: () => void
  readonly close: () => Promise<void>
}

/** How long connections may take to end before they are left to themselves. */
const closeLimitMs = 10_000

export function createWay(url: string): Way {
  let reached: Promise<Reached> | undefined
  let isClosed = false
  const closing = new Set<Promise<void>>()
  const forget = (): void => {
    const ending = reached?.then(({ open }) => open.close()).catch(() => {})
    reached = undefined
    if (ending === undefined) return
    closing.add(ending)
    void ending.finally(() => closing.delete(ending))
  }
  return {
    current: () => {
      if (isClosed) return Promise.reject(new Error('the board has ended'))
      return (reached ??= reach(url))
    },
    forget,
    close: async () => {
      isClosed = true
      forget()
      await Promise.race([Promise.all(closing), pause(closeLimitMs, undefined, { ref: false })])
    },
  }
}

async function reach(url: string): Promise<Reached> {
  // one connection for the looks, and one for ending a session while a look waits
  const open = await openUrl(url, 2)
  const dialects = open.dialects.map(findDialect)
  const server = identify({ dialects, version: undefined })
  return { open, meeting: meet(open.sessions, dialects), server }
}
