import { setTimeout as pause } from 'node:timers/promises'

import { LockNotAvailableError, LockTimeoutError } from '../core/errors.ts'
import type { LockKey } from '../core/key.ts'
import { isUnsupported } from '../core/support.ts'
import type { Session } from '../core/session.ts'
import { awakeMs } from './awake.ts'
import { readAgain, type Ground } from './ground.ts'
import { BrokenLawError } from './broken-law.ts'
import { isRefusal } from './refusal.ts'
import type { Client } from './subject.ts'

/** What is left to do on a server may take it a moment after a client is told that all is done. */
const withinMs = 15_000

/** What a law has used, and nobody may hold any more. */
export interface Used {
  readonly table: string
  readonly ids: readonly number[]
  readonly keys: readonly LockKey[]
}

/** Rejects unless nothing remains of a law: no lock, no open transaction. */
export async function expectNothingHeld(ground: Ground, used: Used): Promise<void> {
  const deadline = awakeMs() + withinMs
  for (;;) {
    const left = await readAgain(ground, () => leftovers(ground, used))
    if (left.length === 0) return
    if (awakeMs() > deadline) throw new BrokenLawError(`left behind: ${left.join('; ')}`)
    await pause(20)
  }
}

async function leftovers(ground: Ground, used: Used): Promise<readonly string[]> {
  const { sessions, leases } = await ground.observer.locks.inspect()
  const { application } = ground.subject
  const ours = sessions.filter((seen) => application === undefined || seen.application === application)
  const names = used.keys.map(readable)
  const seen = [
    ...ours.map(
      ({ id, state, holds }) => `connection ${id} (${state}) holds ${holds.map(({ on }) => on).join(', ')}`,
    ),
    ...leases
      .filter(({ key, owner, remainingMs }) => owner !== undefined && remainingMs > 0 && names.includes(key))
      .map(({ key }) => `the lease ${key} is held`),
  ]
  return seen.length > 0 ? seen : refusedToNewcomer(ground, used)
}

/** As `inspect` shows it. */
function readable(key: LockKey): string {
  return typeof key === 'object' && 'raw' in key ? key.raw : [key].flat().join('.')
}

/** Asks as a newcomer would: whatever still keeps a newcomer out was left behind, also where nothing shows it. */
async function refusedToNewcomer(
  { observer: { locks }, facts }: Ground,
  { table, ids, keys }: Used,
): Promise<readonly string[]> {
  const left: string[] = []
  const named = isUnsupported(facts.support('advisory')) ? [] : keys
  for (const key of named) {
    const { acquired } = await locks.tryLock(key, async () => {})
    if (!acquired) left.push(`the lock ${readable(key)} is busy`)
  }
  const all = facts.tools.fixture.target(table, ids)
  const lockAll = async (tx: object): Promise<unknown> => locks.rows(tx, all, { wait: 'nowait' })
  try {
    if (ids.length > 0)
      await locks.transaction(lockAll, { lockTimeoutMs: 1000 }).catch((error: unknown) => {
        // not every adapter can limit a whole transaction, and most databases refuse at once without
        if (!isRefusal(error)) throw error
        return locks.transaction(lockAll)
      })
  } catch (error) {
    if (!(error instanceof LockNotAvailableError || error instanceof LockTimeoutError)) throw error
    left.push('a row is locked')
  }
  return left
}

/** The settings of every connection that a client's pool lends, each as text. */
export async function settingsOf(ground: Ground, client: Client): Promise<readonly string[]> {
  const { settings } = ground.facts.tools.fixture
  if (settings === undefined) return []
  const open: Session<object>[] = []
  try {
    // all at once, so that no connection is asked twice
    for (let index = 0; index < client.size; index += 1) open.push(await client.sessions.open())
    return await Promise.all(open.map(async (session) => JSON.stringify(await session.run(settings))))
  } finally {
    await Promise.all(open.map((session) => session.release()))
  }
}

/** Rejects when a connection of the pool has other settings than it had when the pool was new. */
export function expectSameSettings(actor: string, before: readonly string[], after: readonly string[]): void {
  const changed = after.find((settings) => !before.includes(settings))
  if (changed === undefined) return
  throw new BrokenLawError(`${actor} leaves a connection with other settings: ${changed}, not ${before[0]}`)
}
