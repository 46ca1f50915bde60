import { setImmediate as nextRound } from 'node:timers/promises'

import type { LockKey } from '../core/key.ts'
import type { LockMode } from '../core/request.ts'
import { readableKey } from '../dialects/inspect-lease.ts'
import { textOfKey } from '../locks/refused.ts'
import type { Memory } from './memory.ts'
import { nameOfKey } from './name.ts'

/** A lock that somebody holds in the memory. */
export interface TestHeld {
  /** The key, as errors show it; of a lease, the readable part of its name. */
  readonly key: string
  readonly kind: 'transaction' | 'session' | 'lease'
  readonly mode: LockMode
  /** Whether somebody waits for it. Of a lease that is not known. */
  readonly isWaitedFor: boolean
}

/** The locks and leases that are held. */
export function heldIn(memory: Memory): readonly TestHeld[] {
  const named = memory.locks.granted().flatMap(({ name, label, mode, until }) => {
    if (label === undefined) return []
    const isWaitedFor = memory.locks.waiting().some((wait) => wait.name === name)
    return [{ key: label, kind: until, mode, isWaitedFor }]
  })
  const leases = memory.leases.held().map(({ name }) => {
    const key = readableKey(name) ?? name
    return { key, kind: 'lease', mode: 'exclusive', isWaitedFor: false } as const
  })
  return [...named, ...leases]
}

/** What a test has left behind, in words. */
export function leftIn(memory: Memory): readonly string[] {
  const open = [...memory.connections].filter(({ isInTransaction }) => isInTransaction).length
  return [
    ...heldIn(memory).map(({ key, kind }) => `${kind === 'lease' ? 'lease' : `${kind} lock`} ${key} is held`),
    ...memory.locks.waiting().map(({ label, name }) => `lock ${label ?? name} is waited for`),
    ...(open > 0 ? [`${open} transaction${open > 1 ? 's are' : ' is'} open`] : []),
    ...memory.faults.toCome().map((fault) => `failNext('${fault}') has not struck`),
  ]
}

/** A test that waits for what never comes is to fail with a reason, before it fails for its time. */
const patienceMs = 4000

/** Settles when somebody waits for the lock. */
export async function untilWaitedFor({ locks }: Memory, key: LockKey): Promise<void> {
  const name = nameOfKey(key)
  const until = performance.now() + patienceMs
  while (!locks.waiting().some((wait) => wait.name === name)) {
    if (performance.now() > until) throw new Error(`nobody waits for the lock ${textOfKey(key)}`)
    await nextRound()
  }
}
