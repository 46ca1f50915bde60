import { randomBytes } from 'node:crypto'

import { meetCoordinator, type Coordinator } from '../../src/coordinator.ts'
import type { CoordinatorDialect } from '../../src/coordinators/commands.ts'
import { createActor, type Actor } from '../../src/conformance/actor.ts'
import { BrokenLawError } from '../../src/conformance/broken-law.ts'
import type { Law } from '../../src/conformance/law.ts'
import { leaseLaws } from '../../src/conformance/laws/lease.ts'
import { semaphoreLaws } from '../../src/conformance/laws/semaphore.ts'
import { untilWaiting } from '../../src/conformance/observe.ts'
import { play } from '../../src/conformance/play.ts'
import { settledOf, type Stage } from '../../src/conformance/stage.ts'
import type { Client, Sabotage } from '../../src/conformance/subject.ts'
import { createTracer } from '../../src/conformance/trace.ts'
import type { LockKey } from '../../src/core/key.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { permitNames } from '../../src/core/permit-name.ts'
import type { LeaseSession, LeaseSessions } from '../../src/locks/port.ts'

/** A coordinator that the laws of leases are run on. */
export interface LawGround {
  /** One more application, with a connection of its own. */
  readonly join: () => Promise<Joined>
  /** The shortest lease that the server knows. */
  readonly briefMs: number
  /** Deletes a lease, by its name, as somebody does who cleans up. */
  readonly remove: (name: string) => Promise<unknown>
  /** Whether a lease has an owner, by its name, as the server has it. */
  readonly isOwned: (name: string) => Promise<boolean>
  /** Whether the owner goes when its time is over. Then it is there for a moment longer, and nobody else gets the lease. */
  readonly areOwnersRemoved: boolean
}

export interface Joined {
  readonly coordinator: Coordinator
  readonly close: () => Promise<unknown>
}

/** Those that speak of leases alone. The others are about transactions, or about locks that are no leases. */
export const coordinatorLaws: readonly Law[] = leaseLaws.filter(
  ({ id }) => !['L5', 'L13', 'L14'].includes(id),
)

/** Run one by one: whoever stands first in the line has to say so every second, which many laws at once do not leave it. */
export const permitLaws = semaphoreLaws

/** An application that makes the mistake of a law's control. */
export function sabotaged(
  { dialect, session, client }: Sabotage,
  real: CoordinatorDialect,
  sessions: LeaseSessions,
): Coordinator {
  // as much of a dialect, a session and a client as the controls of these laws use
  const changed = (dialect?.(real as never) ?? real) as unknown as CoordinatorDialect
  const open = async (): Promise<LeaseSession> => {
    const opened = await sessions.open()
    return session?.(opened as never) ?? opened
  }
  const locks = meetCoordinator(changed, { ...sessions, open })
  const worse = client?.({ locks } as unknown as Client, { fixture: undefined } as never)
  return (worse?.locks ?? locks) as unknown as Coordinator
}

/** Runs a law; rejects with what breaks it. */
export async function obey(law: Law, ground: LawGround): Promise<void> {
  const members = new Map<string, Promise<Joined & { readonly actor: Actor }>>()
  const { stage, undos } = stageOn(ground, members)
  try {
    if ('trial' in law) await law.trial(stage)
    else if ('schedule' in law && typeof law.schedule === 'object') await play(stage, law.schedule)
    else throw new TypeError(`${law.id} is of another kind`)
  } finally {
    const all = await Promise.all(members.values())
    await Promise.allSettled([...undos.map((undo) => undo()), ...all.map(({ actor }) => actor.leave())])
    await Promise.all(all.map(({ close }) => close()))
  }
}

function stageOn(
  ground: LawGround,
  members: Map<string, Promise<Joined & { readonly actor: Actor }>>,
): { readonly stage: Stage; readonly undos: (() => Promise<unknown>)[] } {
  const run = randomBytes(4).toString('hex')
  const tracer = createTracer()
  const undos: (() => Promise<unknown>)[] = []
  const keys = new Set<LockKey>()
  const keyOf = (name: string): LockKey => {
    const key = [`law-${run}`, name]
    keys.add(key)
    return key
  }
  const join = async (): Promise<Joined & { readonly actor: Actor }> => {
    const joined = await ground.join()
    const client = { locks: joined.coordinator }
    return {
      ...joined,
      actor: createActor({ client, keyOf } as unknown as Parameters<typeof createActor>[0]),
    }
  }
  const member = (name: string): Promise<Joined & { readonly actor: Actor }> => {
    const joined = members.get(name) ?? join()
    members.set(name, joined)
    return joined
  }
  const inspect = async (): Promise<object> => {
    const { coordinator } = await member('observer')
    const names = [...keys].map((key) => chosenLeaseName(key))
    const doors = names.map((name) => permitNames(name).door)
    const leases = await coordinator.inspect({ keys: [...keys] })
    const asked = ground.areOwnersRemoved ? [...doors, ...names] : doors
    const taken = await Promise.all(asked.map((name) => ground.isOwned(name)))
    const owned = asked.filter((_, index) => taken[index])
    return { leases: [...leases, ...owned.map((name) => ({ name, owner: 'some', remainingMs: 1 }))] }
  }
  // as much of a stage as these laws use: there are no tables and no transactions
  const stage = {
    tracer,
    keyOf,
    signal: AbortSignal.timeout(120_000),
    briefMs: ground.briefMs,
    client: async (name: string) => ({ locks: (await member(name)).coordinator }),
    actor: async (name: string) => (await member(name)).actor,
    note: <T>(actor: string, does: string, work: Promise<T>) => (tracer.watch(actor, does, work), work),
    untilWaiting: (does: string, work: Promise<unknown>) =>
      untilWaiting(undefined as never, { does, isSettled: settledOf(work), inServer: 0 }),
    expect: (isSo: boolean, otherwise: string) => {
      if (!isSo) throw new BrokenLawError(otherwise)
    },
    atEnd: (undo: () => Promise<unknown>) => void undos.push(undo),
    ground: { observer: { locks: { inspect } }, command: (remove: () => Promise<unknown>) => remove() },
    facts: {
      tools: { examination: { leaseRow: { remove: (name: string) => () => ground.remove(name) } } },
    },
  }
  return { stage: stage as unknown as Stage, undos }
}
