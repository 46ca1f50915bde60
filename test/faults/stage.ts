import { afterEach, beforeAll } from 'vitest'

import { canonicalKey } from '../../src/core/key.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { contextWith, describeEngines, until, type EngineContext } from '../engines/use.ts'
import { leaseRow } from '../leases/lease-rows.ts'
import { engines, loadDriver } from '../stories/drivers.ts'
import type { Shop } from '../stories/shop.ts'
import { nothingLeft } from '../stories/two-accounts.ts'

/** What the specs of one engine have, inside tests and hooks. */
export interface Stage extends EngineContext {
  /** Who keeps a lock that is held until it is released. */
  readonly keptBy: 'connection' | 'lease'
  /** One more pool of this size with locks of its own; closed after the test. */
  readonly shop: (size?: number) => Promise<Shop>
  /** A key that no other test has. */
  readonly key: (part?: string | number) => readonly (string | number)[]
  /** What the server has of a lease. */
  readonly leaseOf: (name: string) => Promise<LeaseOnServer | undefined>
  /** How many wait in the server's own line for a named lock. */
  readonly waiters: () => Promise<number>
}

/** A row of `_leases`, its times in milliseconds of the server's clock. */
export interface LeaseOnServer {
  readonly owner: string | null
  readonly fence: number
  readonly expiresAt: number
}

/** The row of a lease, and the row of a lock that is kept as a lease. */
export const rowNames = {
  lease: (key: readonly (string | number)[]) => chosenLeaseName(key),
  acquire: (key: readonly (string | number)[]) => canonicalKey(key).name,
} as const

export interface StageChoice {
  /** Only engines that let a second process in. */
  readonly withProcesses?: boolean
  readonly only?: readonly string[]
}

/** Runs the specs once for each engine that can be reached through a driver. After each test nothing may be left. */
export function describeFaults(
  specs: (stage: Stage) => void,
  { withProcesses = false, only = engines }: StageChoice = {},
): void {
  const chosen = only.filter((name) => !withProcesses || name !== 'duckdb')
  describeEngines((context) => specs(stageOf(context)), { only: chosen })
}

let keys = 0

function stageOf(context: EngineContext): Stage {
  const shops: Shop[] = []
  const shop = async (size = 4): Promise<Shop> => {
    const opened = await (await loadDriver(context.name)).connect(context.engine.server.url, size)
    shops.push(opened)
    return opened
  }
  /** Its connection does not stay: some engines count them. */
  const observe = async <T>(look: (session: EngineSession) => Promise<T>): Promise<T> => {
    const session = await context.engine.open()
    return look(session).finally(() => session.close())
  }
  beforeAll(() =>
    observe(async (session) => {
      for (const statement of registry[context.name as DialectName].lease.schema) await session.run(statement)
    }),
  )
  afterEach(async () => {
    const last = shops.at(-1)
    if (last !== undefined) await nothingLeft(last, context.engine)
    for (const opened of shops.splice(0)) await opened.close()
  })
  return contextWith(context, {
    keptBy: registry[context.name as DialectName].named.keptBy,
    shop,
    key: (part = 'key') => ['faults', process.pid, (keys += 1), part],
    leaseOf: async (name) => {
      const row = await observe(async (session) => {
        // a reader does not get past somebody who commits at that moment
        if (context.name === 'sqlite') await session.run({ sql: 'PRAGMA busy_timeout = 10000', params: [] })
        return leaseRow(context.name, session, name).read()
      })
      return row && onServer(row)
    },
    waiters: async () =>
      (await context.engine.leftovers()).filter(
        (line) => /advisory|user level lock/i.test(line) && /\b(wants|pending)\b/.test(line),
      ).length,
  })
}

function onServer(row: Readonly<Record<string, unknown>>): LeaseOnServer {
  return {
    owner: typeof row.owner === 'string' ? row.owner : null,
    fence: Number(row.fence),
    expiresAt: Number(row.expires_at ?? row.expiresAt),
  }
}

/** Waits until the server's own line for named locks is as long as this. */
export function untilWaiters({ waiters }: Stage, count: number): Promise<void> {
  return until(async () => (await waiters()) === count, `${count} who wait for a named lock`)
}
