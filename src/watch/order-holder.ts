import type { LockMode } from '../core/request.ts'
import type { TransactionEvent } from '../events/shapes.ts'
import type { CallPlace } from './call-place.ts'
import type { OrderEdge } from './order-graph.ts'

/** A lock as the order of locks sees it. */
export interface OrderLock {
  /** What it is one of: `table stock`, `name report`, `lease report`. */
  readonly kind: string
  /** Which one of them, where that is known: `id=1`. */
  readonly which: string | undefined
  /** By what that is said: two that are named by different columns may be the same. */
  readonly by: string | undefined
  readonly mode: LockMode
  readonly place: CallPlace | undefined
}

/** Each lock is compared with all that are held: of very many, the first ones count. */
const mostHeld = 48

/** Whoever holds locks: a transaction, or a chain of calls outside of one, inside of another. */
export class OrderHolder {
  /** Undefined for a chain of calls. */
  readonly transaction: TransactionEvent | undefined
  readonly #outer: OrderHolder | undefined
  readonly #depth: number
  readonly #held = new Map<object, OrderLock>()
  #attempt = 0
  #isOver = false

  constructor(outer: OrderHolder | undefined, transaction?: TransactionEvent) {
    const open = outer?.nearest()
    // a chain that never gives anything back has an end, too
    this.#outer = open !== undefined && open.#depth >= mostHeld ? open.#outer : open
    this.#depth = this.#outer === undefined ? 1 : this.#outer.#depth + 1
    this.transaction = transaction
  }

  /** This one, or where it is over, the one around it. */
  nearest(): OrderHolder | undefined {
    return this.#isOver ? this.#outer?.nearest() : this
  }

  /** Gives false where there are too many to remember it. */
  hold(token: object, lock: OrderLock): boolean {
    this.#forgetAttempt()
    for (const one of this.#held.values()) if (isNoLess(one, lock)) return true
    if (this.#held.size >= mostHeld) return false
    this.#held.set(token, lock)
    return true
  }

  release(token: object): void {
    this.#held.delete(token)
  }

  /** It will hold nothing more. */
  over(): void {
    this.#isOver = true
    this.#held.clear()
  }

  /** What an earlier attempt of a transaction had is gone. */
  #forgetAttempt(): void {
    const { attempts = 0 } = this.transaction ?? {}
    if (attempts !== this.#attempt) this.#held.clear()
    this.#attempt = attempts
  }

  /** What is held here, the oldest first. */
  held(): readonly OrderLock[] {
    this.#forgetAttempt()
    return [...(this.#outer?.held() ?? []), ...this.#held.values()]
  }

  /** What it says about the order when this lock is asked for. */
  edgesTo(asked: OrderLock): readonly OrderEdge[] {
    const held = this.held()
    if (held.some((lock) => covers(lock, asked))) return []
    const more = this.transaction?.isOnlyWriter === true ? ['the only writer'] : []
    return held.flatMap((lock) => edgeOf(lock, asked, { all: held, more }) ?? [])
  }
}

/** Whether it is the same lock, and as strong. */
function isNoLess(one: OrderLock, other: OrderLock): boolean {
  const isSame = one.kind === other.kind && one.which === other.which && one.by === other.by
  return isSame && (one.mode === other.mode || one.mode === 'exclusive')
}

/** Whether a lock is there already with the other one, or may be: two texts can name the same row. */
function covers(held: OrderLock, asked: OrderLock): boolean {
  if (held.kind !== asked.kind || (held.mode === 'shared' && asked.mode !== 'shared')) return false
  return held.which === asked.which || !isComparable(held, asked)
}

/** Whether both say which one they are, in the same way. */
function isComparable(one: OrderLock, other: OrderLock): boolean {
  return isOne(one) && isOne(other) && one.by === other.by
}

interface Around {
  readonly all: readonly OrderLock[]
  /** Gates that are no locks of ours. */
  readonly more: readonly string[]
}

function edgeOf(held: OrderLock, asked: OrderLock, { all, more }: Around): OrderEdge | undefined {
  const isOneKind = held.kind === asked.kind
  if (isOneKind && !isComparable(held, asked)) return undefined
  const gates = all.filter((lock) => lock !== held && lock.mode !== 'shared' && isOne(lock))
  return {
    from: isOneKind ? nameOf(held) : held.kind,
    to: isOneKind ? nameOf(asked) : asked.kind,
    fromMode: held.mode,
    toMode: asked.mode,
    gates: [...new Set([...gates.map(nameOf), ...more])],
    ...(held.place && { fromPlace: held.place }),
    ...(asked.place && { toPlace: asked.place }),
  }
}

/** Whether it is one lock, and not some of its kind. */
function isOne({ which }: OrderLock): boolean {
  return which !== undefined
}

function nameOf({ kind, which }: OrderLock): string {
  return which === undefined ? kind : `${kind} ${which}`
}
