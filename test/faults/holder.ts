import type { LockKey } from '../../src/core/key.ts'
import type { Lease } from '../../src/locks/lease/lease.ts'
import { loadDriver } from '../stories/drivers.ts'
import type { Shop } from '../stories/shop.ts'

/*
 * A process that holds a lock: `holder.ts <engine> <url> <clock shift in ms>`.
 *
 * Says `ready` when it is connected, and answers every order. Ends when its parent lets go of it.
 */

export type HoldBy = 'withLock' | 'acquire' | 'lease'

export type Order =
  | { readonly hold: HoldBy; readonly key: LockKey; readonly ttlMs?: number }
  /** Whether it sees that it has lost its lease. */
  | 'look'
  /** Adds a row: under the fence, under the check of the database alone, or under nothing. */
  | { readonly write: 'fenced' | 'by-database' | 'unfenced'; readonly code: string }
  | 'date'

export type Answer =
  | 'ready'
  | { readonly held: Pick<Lease, 'owner' | 'fence'> | null }
  | { readonly isAborted: boolean; readonly thrown: string; readonly remainingMs: number }
  | { readonly written: string }
  | { readonly date: number }
  | { readonly failed: string }

const [engine = '', url = '', shiftMs = '0'] = process.argv.slice(2)
const say = (answer: Answer): void => void process.send?.(answer)
shiftClock(Number(shiftMs))
const shop: Shop = await (await loadDriver(engine)).connect(url, 4)
let lease: Lease | undefined

process.on('message', (order: Order) => {
  obey(order).then(say, (error: unknown) =>
    say({ failed: error instanceof Error ? String(error.stack) : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
say('ready')

async function obey(order: Order): Promise<Answer> {
  if (order === 'date') return { date: Date.now() }
  if (order === 'look') return look(taken())
  return 'hold' in order ? { held: await hold(order) } : { written: await write(order) }
}

async function hold({
  hold: by,
  key,
  ttlMs = 30_000,
}: Extract<Order, { hold: HoldBy }>): Promise<Lease | null> {
  if (by === 'lease') {
    lease = await shop.locks.lease(key, { ttlMs })
    return { owner: lease.owner, fence: lease.fence } as Lease
  }
  if (by === 'acquire') handles.push(await shop.locks.acquire(key, { ttlMs }))
  else await new Promise<void>((began) => void shop.locks.withLock(key, () => forEver(began)))
  return null
}

/** What is dropped would be warned of. */
const handles: unknown[] = []

function forEver(began: () => void): Promise<void> {
  began()
  return new Promise(() => {})
}

function taken(): Lease {
  if (lease === undefined) throw new Error('no lease was taken')
  return lease
}

function look(held: Lease): Answer {
  let thrown = 'nothing'
  try {
    held.throwIfLost()
  } catch (error) {
    thrown = nameOf(error)
  }
  return { isAborted: held.signal.aborted, thrown, remainingMs: held.remainingMs() }
}

async function write({ write: how, code }: Extract<Order, { write: string }>): Promise<string> {
  const add = (tx: unknown): Promise<void> => shop.add(tx, 'entry', { code, amount: 1 })
  const held = taken()
  // a holder that looks at no clock: nothing but the database is left to refuse it
  if (how === 'by-database') Object.assign(held, { throwIfLost: () => {} })
  const writing = how === 'unfenced' ? shop.locks.transaction(add) : shop.locks.fenced(held, add)
  return writing.then(() => 'stored', nameOf)
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error)
}

/** Sets the wall clock of this process wrong, before anything of the driver is loaded. */
function shiftClock(ms: number): void {
  if (ms === 0) return
  const Real = Date
  globalThis.Date = class extends Real {
    constructor(...args: readonly unknown[]) {
      super(...((args.length === 0 ? [Real.now() + ms] : args) as [number]))
    }
    static override now(): number {
      return Real.now() + ms
    }
  } as DateConstructor
}
