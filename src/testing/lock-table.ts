import { clearTimeout, setTimeout } from '../core/clock.ts'
import type { LockMode } from '../core/request.ts'
import { deadlock } from './error.ts'

/** Who holds locks: a connection. */
export interface Owner {
  readonly id: string
}

/** A lock that somebody holds, or wants. */
export interface Claim {
  readonly by: Owner
  /** What tells it from all other locks. */
  readonly name: string
  readonly mode: LockMode
  readonly until: 'transaction' | 'session'
  /** What it is called, where people are shown it. */
  readonly label?: string
}

export interface Ask extends Claim {
  /** How long it is waited for; absent: until it is free. */
  readonly waitMs?: number | undefined
}

interface Waiter extends Claim {
  readonly settle: (isGranted: boolean) => void
  readonly fail: (why: Error) => void
}

/** One name: who has it, and who waits for it, in the order of asking. */
interface Line {
  readonly grants: Claim[]
  readonly waiters: Waiter[]
}

/** Locks in memory, which really exclude: first come, first served, and nobody waits in a circle. */
export class LockTable {
  readonly #lines = new Map<string, Line>()

  /** Whether it was granted. Rejects where the wait would never end. */
  acquire(ask: Ask): Promise<boolean> {
    if (this.tryNow(ask)) return Promise.resolve(true)
    if (ask.waitMs !== undefined && ask.waitMs <= 0) return Promise.resolve(false)
    const line = this.#lineOf(ask.name)
    return new Promise((resolve, reject) => this.#wait(line, ask, { resolve, reject }))
  }

  /** Takes it if it is free. */
  tryNow(claim: Claim): boolean {
    const line = this.#lineOf(claim.name)
    const isGranted = isFree(line, claim, line.waiters)
    if (isGranted) line.grants.push(claim)
    return isGranted
  }

  /** Gives one lock back. Says whether it was there. */
  release(claim: Omit<Claim, 'label'>): boolean {
    const line = this.#lines.get(claim.name)
    const at = line?.grants.findIndex(
      ({ by, mode, until }) => by === claim.by && mode === claim.mode && until === claim.until,
    )
    if (line === undefined || at === undefined || at < 0) return false
    line.grants.splice(at, 1)
    this.#serve(claim.name, line)
    return true
  }

  /** Gives back what lasts until then. */
  releaseAll(owner: Owner, until: readonly Claim['until'][]): void {
    for (const [name, line] of this.#lines) {
      const kept = line.grants.filter((grant) => grant.by !== owner || !until.includes(grant.until))
      if (kept.length === line.grants.length) continue
      line.grants.splice(0, line.grants.length, ...kept)
      this.#serve(name, line)
    }
  }

  /** Ends every wait of an owner. */
  cancel(owner: Owner, why: Error): void {
    for (const { waiters } of this.#lines.values()) {
      for (const waiter of waiters.filter(({ by }) => by === owner)) waiter.fail(why)
    }
  }

  granted(): readonly Claim[] {
    return [...this.#lines.values()].flatMap(({ grants }) => grants)
  }

  waiting(): readonly Claim[] {
    return [...this.#lines.values()].flatMap(({ waiters }) => waiters)
  }

  /** The owners that keep a claim waiting. */
  blockersOf(claim: Claim): readonly Owner[] {
    const { grants = [], waiters = [] } = this.#lines.get(claim.name) ?? {}
    const ahead = waiters.slice(0, Math.max(0, waiters.indexOf(claim as Waiter)))
    return [...grants, ...ahead].filter((other) => isInTheWay(other, claim)).map(({ by }) => by)
  }

  #wait(line: Line, ask: Ask, promise: Settle): void {
    const leave = (): void => {
      clearTimeout(timer)
      line.waiters.splice(line.waiters.indexOf(waiter), 1)
    }
    const waiter: Waiter = {
      ...ask,
      settle: (isGranted) => {
        leave()
        if (isGranted) line.grants.push(ask)
        promise.resolve(isGranted)
        if (!isGranted) this.#serve(ask.name, line)
      },
      fail: (why) => {
        leave()
        promise.reject(why)
        this.#serve(ask.name, line)
      },
    }
    const timer =
      ask.waitMs === undefined ? undefined : setTimeout(() => waiter.settle(false), Math.ceil(ask.waitMs))
    line.waiters.push(waiter)
    if (this.#isCircle(waiter)) waiter.fail(deadlock())
  }

  #isCircle(start: Claim): boolean {
    const seen = new Set<Owner>()
    const leadsBack = (claim: Claim): boolean =>
      this.blockersOf(claim).some((owner) => {
        if (owner === start.by) return true
        if (seen.has(owner)) return false
        seen.add(owner)
        return this.waiting().some((wait) => wait.by === owner && leadsBack(wait))
      })
    return leadsBack(start)
  }

  #serve(name: string, line: Line): void {
    const served = line.waiters.find((waiter, at) => isFree(line, waiter, line.waiters.slice(0, at)))
    if (served !== undefined) {
      served.settle(true)
      this.#serve(name, line)
    } else if (line.grants.length === 0 && line.waiters.length === 0) this.#lines.delete(name)
  }

  #lineOf(name: string): Line {
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const line: Line = { grants: [], waiters: [] }
    this.#lines.set(name, line)
    return line
  }
}

interface Settle {
  readonly resolve: (isGranted: boolean) => void
  readonly reject: (why: Error) => void
}

/** Whoever has some of it already goes first: those ahead wait for it too. */
function isFree({ grants }: Line, claim: Claim, ahead: readonly Claim[]): boolean {
  const isOwn = grants.some(({ by }) => by === claim.by)
  return ![...grants, ...(isOwn ? [] : ahead)].some((other) => isInTheWay(other, claim))
}

function isInTheWay(other: Claim, claim: Claim): boolean {
  return other.by !== claim.by && (other.mode === 'exclusive' || claim.mode === 'exclusive')
}
