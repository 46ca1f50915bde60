import type { LockMode } from '../../core/request.ts'
import type { Holder } from './holder.ts'
import type { LockName } from './holder-names.ts'
import { createOpenings, type Openings, type OpeningsPort } from './holder-openings.ts'

/** The connections that hold the session locks of one `locks` object: few, each with many locks. */
export interface HolderSet extends Openings {
  /** A connection on which the name can be tried: the fullest, so that others come to hold nothing and go back. */
  readonly find: (name: LockName) => Holder | undefined
  /** One more connection for all who find none. Rejects for all of them. */
  readonly grow: () => Promise<void>
  /** The connection can be used by others too from now on. */
  readonly join: (holder: Holder) => void
  /** The connection is one caller's alone from now on: only such a one may wait. */
  readonly part: (holder: Holder) => void
  /** The strongest mode in which this process holds the name. */
  readonly modeOf: (name: LockName) => LockMode | undefined
  /** Told of each name that was dropped, and without one when a connection has come or gone. Gives what ends it. */
  readonly listen: (listener: (dropped?: LockName) => void) => () => void
  readonly census: () => Census
}

export interface Census {
  readonly locks: number
  /** The connections that hold them. */
  readonly holding: number
  /** The connections on which a lock is waited for. */
  readonly waiting: number
}

export interface SetLimits {
  readonly heartbeatMs: number
  /** Every statement on a connection gets slower with the locks that it holds. */
  readonly locksPerConnection: number
}

export function createHolderSet<Tx>(
  source: Omit<OpeningsPort<Tx>, 'events'>,
  { heartbeatMs, locksPerConnection }: SetLimits,
): HolderSet {
  const members = new Map<Holder, () => void>()
  const all = new Set<Holder>()
  const { listen, tell } = createChanges()
  const part = (holder: Holder): void => {
    members.get(holder)?.()
    members.delete(holder)
  }
  const join = (holder: Holder): void => {
    if (holder.isOver()) return
    members.set(holder, holder.watch(heartbeatMs))
    tell()
  }
  const onEnd = (holder: Holder): void => {
    part(holder)
    all.delete(holder)
    tell()
  }
  const onStart = (holder: Holder): void => void all.add(holder)
  const { want } = createOpenings({ ...source, events: { onStart, onEnd, onDrop: tell } })
  const grow = onceAtATime(async () => {
    const holder = await want().arrived
    join(holder)
    setImmediate(holder.endIfEmpty) // by then everybody who waited for it has looked
  })
  return {
    want,
    grow,
    join,
    part,
    listen,
    find: (name) =>
      fullest([...members.keys()].filter(({ names }) => names.canTake(name, locksPerConnection))),
    modeOf: (name) => strongest([...members.keys()].map(({ names }) => names.modeOf(name))),
    census: () => censusOf([...members.keys()], all.size),
  }
}

function censusOf(members: readonly Holder[], connections: number): Census {
  return {
    locks: members.reduce((sum, { names }) => sum + names.size, 0),
    holding: members.length,
    waiting: connections - members.length,
  }
}

function fullest(holders: readonly Holder[]): Holder | undefined {
  return holders.reduce<Holder | undefined>(
    (best, holder) => (best === undefined || holder.names.size > best.names.size ? holder : best),
    undefined,
  )
}

function strongest(modes: readonly (LockMode | undefined)[]): LockMode | undefined {
  return modes.find((mode) => mode === 'exclusive') ?? modes.find((mode) => mode !== undefined)
}

type Listener = (dropped?: LockName) => void

function createChanges(): { readonly listen: HolderSet['listen']; readonly tell: Listener } {
  const listeners = new Set<Listener>()
  return {
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell: (dropped) => {
      for (const listener of listeners) listener(dropped)
    },
  }
}

/** Everybody who asks while it is under way waits for the same. */
function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}
