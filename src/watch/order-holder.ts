import type { LockMode } from '../core/request.ts'
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

/** Whoever holds locks: a transaction, or a chain of calls outside of one, inside of another. */
export class OrderHolder {
  readonly #outer: OrderHolder | undefined
  readonly #held = new Map<object, OrderLock>()
  #attempt = 0

  constructor(outer: OrderHolder | undefined) {
    this.#outer = outer
  }

  hold(token: object, lock: OrderLock): void {
    this.#held.set(token, lock)
  }

  release(token: object): void {
    this.#held.delete(token)
  }

  releaseAll(): void {
    this.#held.clear()
  }

  /** What an earlier attempt of a transaction had is gone. */
  enter(attempt: number): void {
    if (attempt !== this.#attempt) this.releaseAll()
    this.#attempt = attempt
  }

  /** What is held here, the oldest first. */
  held(): readonly OrderLock[] {
    return [...(this.#outer?.held() ?? []), ...this.#held.values()]
  }

  /** What it says about the order when this lock is asked for. */
  edgesTo(asked: OrderLock): readonly OrderEdge[] {
    const held = this.held()
    return held.some((lock) => covers(lock, asked))
      ? []
      : held.flatMap((lock) => edgeOf(lock, asked, held) ?? [])
  }
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

function edgeOf(held: OrderLock, asked: OrderLock, all: readonly OrderLock[]): OrderEdge | undefined {
  const isOneKind = held.kind === asked.kind
  if (isOneKind && !isComparable(held, asked)) return undefined
  const gates = all.filter((lock) => lock !== held && lock.mode !== 'shared' && isOne(lock))
  return {
    from: isOneKind ? nameOf(held) : held.kind,
    to: isOneKind ? nameOf(asked) : asked.kind,
    fromMode: held.mode,
    toMode: asked.mode,
    gates: [...new Set(gates.map(nameOf))],
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
