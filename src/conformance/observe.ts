import { setTimeout as pause } from 'node:timers/promises'

import type { Inspection } from '../core/inspection.ts'
import { awakeMs } from './awake.ts'
import type { Ground } from './ground.ts'
import { BrokenLawError } from './broken-law.ts'

/** Somebody who should be waiting now. */
export interface Expected {
  /** What it does, for the message. */
  readonly does: string
  readonly isSettled: () => boolean
  /** How many sessions the server itself should make wait by then, this one included. Zero: it is not the server that does. */
  readonly inServer: number
  /** How often the library has repeated its transaction since it began to wait: each time it was refused. */
  readonly repeats?: () => number
}

const everyMs = 10
/** How often it is looked at, where nobody shows that it waits, before it is taken for waiting. */
const looks = 8
const withinMs = 10_000

/**
 * Waits until somebody is seen waiting: by the server where that shows it, by the library's repeated attempts, or, where
 * nothing shows it, by not ending although it was looked at time and again.
 *
 * Rejects when it has ended: then it did not wait.
 */
export async function untilWaiting(ground: Ground, expected: Expected): Promise<void> {
  const { does, isSettled, inServer, repeats } = expected
  const deadline = awakeMs() + withinMs
  for (let look = 1; ; look += 1) {
    const seen = inServer > 0 ? await inspectWaiting(ground) : undefined
    if (isSettled()) throw new BrokenLawError(`${does}: did not wait`)
    if (seen === undefined ? (repeats?.() ?? 0) > 0 || look >= looks : seen >= inServer) return
    if (awakeMs() > deadline) {
      throw new BrokenLawError(`${does}: has not ended, but the server does not show it waiting either`)
    }
    await pause(everyMs)
  }
}

/** How many sessions the server shows as waiting; undefined where it does not show all. */
async function inspectWaiting({ observer, facts }: Ground): Promise<number | undefined> {
  const { inspector } = facts.tools
  if (!inspector.showsWaiting) return undefined
  const inspection = await observer.locks.inspect()
  if (inspection.unseen.length > inspector.blindSpots.length) return undefined
  return waitingIn(inspection)
}

function waitingIn({ sessions }: Inspection): number {
  return sessions.filter(({ waits }) => waits !== undefined).length
}
