import { setTimeout as pause } from 'node:timers/promises'

import type { CheckedAdvisory } from '../../core/check-request.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import type { PlanDraft } from '../../core/plan.ts'
import type { Session } from '../../core/session.ts'
import type { Statement } from '../../core/statement.ts'
import { isUnsupported, type Unsupported } from '../../core/support.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Client, Sabotage } from '../subject.ts'

type Ask = (request: CheckedAdvisory) => PlanDraft | Unsupported

/** A dialect that plans named locks in another way. */
function advisoryBy(change: (ask: Ask, request: CheckedAdvisory) => PlanDraft | Unsupported) {
  return (dialect: Dialect): Dialect => {
    const cell = dialect.cells.advisory
    if (isUnsupported(cell)) return dialect
    const advisory: typeof cell = (request, version) => change((asked) => cell(asked, version), request)
    return { ...dialect, cells: { ...dialect.cells, advisory } }
  }
}

/** A dialect whose plans for named locks are changed afterwards. */
function planned(change: (plan: PlanDraft, request: CheckedAdvisory) => PlanDraft): Sabotage['dialect'] & {} {
  return advisoryBy((ask, request) => {
    const plan = ask(request)
    return isUnsupported(plan) ? plan : change(plan, request)
  })
}

/** Grants every name without asking the server. */
const dropsTheLock: Sabotage = {
  does: 'grants a named lock without asking for it',
  dialect: planned(({ support, waiting }) => ({ support, waiting })),
}

/** Takes the lock as if every transaction read what is committed by now: after its snapshot, where there is one. */
const ignoresIsolation: Sabotage = {
  does: 'takes the lock inside of the transaction at every isolation level',
  dialect: advisoryBy((ask, request) => ask({ ...request, isolation: undefined })),
}

const releases = new WeakMap<Statement, readonly Statement[]>()

/** How long COMMIT is on its way. */
const commitMs = 50

/** Gives back a lock of the connection while the transaction is still open: the next holder reads what was there before. */
const releasesBeforeCommit: Sabotage = {
  does: 'gives the lock back before COMMIT',
  dialect: planned(({ afterEnd = [], ...plan }, { scope }) => {
    if (scope === 'session') return { ...plan, afterEnd }
    for (const statement of plan.beforeBegin ?? []) releases.set(statement, afterEnd)
    return plan
  }),
  session: releasingEarly,
}

function releasingEarly(session: Session<object>): Session<object> {
  let owed: readonly Statement[] = []
  const giveBack = async (): Promise<boolean> => {
    const now = owed
    owed = []
    for (const statement of now) await session.run(statement)
    return now.length > 0
  }
  const run: Session['run'] = async (statement) => {
    const rows = await session.run(statement)
    owed = [...owed, ...(releases.get(statement) ?? [])]
    return rows
  }
  const commit: Session['commit'] = async () => {
    if (await giveBack()) await pause(commitMs)
    await session.commit()
  }
  const rollback: Session['rollback'] = async () => {
    await giveBack()
    await session.rollback()
  }
  return Object.create(session, {
    run: { value: run },
    commit: { value: commit },
    rollback: { value: rollback },
  }) as Session<object>
}

const forgetsRelease: Sabotage = {
  does: 'leaves a lock of the connection on the pool',
  dialect: planned((plan, { scope }) => (scope === 'session' ? plan : { ...plan, afterEnd: [] })),
}

const triesByWaiting: Sabotage = {
  does: 'waits although it was asked not to',
  dialect: advisoryBy((ask, request) =>
    ask(request.wait === 'nowait' ? { ...request, wait: 'block' } : request),
  ),
}

/** The setting for one wait stays on the connection. */
const leaksSetting: Sabotage = {
  does: 'leaves the lock timeout on the connection',
  dialect: planned((plan) =>
    plan.setting === undefined
      ? plan
      : { ...plan, setting: { apply: plan.setting.apply, restore: plan.setting.apply } },
  ),
}

const ignoresTimeout: Sabotage = {
  does: 'gives up at once although it was asked to wait',
  dialect: advisoryBy((ask, request) =>
    ask(typeof request.wait === 'object' ? { ...request, wait: 'nowait' } : request),
  ),
}

/** Names a lock by what people read: no types, no borders between the parts, no case. */
export const sloppyNames: Sabotage = {
  does: 'names a lock by its readable part',
  dialect: (dialect) => {
    const { lease } = dialect
    const named = advisoryBy((ask, request) => ask({ ...request, key: readableKey(request.key) }))(dialect)
    return {
      ...named,
      lease: {
        ...lease,
        acquire: (claim) => lease.acquire({ ...claim, name: readable(claim.name) }),
        renew: (held, ttlMs) => lease.renew({ ...held, name: readable(held.name) }, ttlMs),
        release: (holder, holdMs) => lease.release({ ...holder, name: readable(holder.name) }, holdMs),
        guard: (held) => lease.guard({ ...held, name: readable(held.name) }),
      },
    }
  },
}

function readableKey(key: LockKey): LockKey {
  return isRawKey(key) ? key : readable(canonicalKey(key).name)
}

/** `hf:orders.7` of `hf:orders.7:<hash>`. */
function readable(name: string): string {
  return name.split(':', 2).join(':')
}

/** Names a lock by what its key begins with: all of its kind are one. */
export const firstPartOnly: Sabotage = {
  does: 'names a lock by the first part of its key',
  dialect: advisoryBy((ask, request) => ask({ ...request, key: firstPart(request.key) })),
}

function firstPart(key: LockKey): LockKey {
  return isRawKey(key) ? key : ([key].flat()[0] ?? key)
}

export const joinsAnyTransaction: Sabotage = {
  does: 'joins a transaction that goes on reading what was there before',
  dialect: (dialect) => ({ ...dialect, named: { ...dialect.named, canJoin: () => true } }),
}

/** Takes several locks in the order in which they were given, one after the other. */
const callersOrder: Sabotage = {
  does: 'takes several locks in the order of the caller',
  client: (client) => ({ ...client, locks: { ...client.locks, withLocks: oneByOne(client) } }),
}

function oneByOne({ locks }: Client): Client['locks']['withLocks'] {
  return async ([first, ...others], work, options) =>
    locks.withLock(
      first ?? 'none',
      async (tx, held) => {
        const receipts = [held.receipt]
        for (const key of others) receipts.push(await locks.lock(tx, key))
        return work(tx, { keys: [held.key, ...others], receipts, signal: held.signal })
      },
      options,
    )
}

/** What is known to go wrong with named locks elsewhere. */
export const nameDefects: readonly Sabotage[] = [
  dropsTheLock,
  ignoresIsolation,
  releasesBeforeCommit,
  forgetsRelease,
  triesByWaiting,
  leaksSetting,
  ignoresTimeout,
  sloppyNames,
  firstPartOnly,
  joinsAnyTransaction,
  callersOrder,
]
