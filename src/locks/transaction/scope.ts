import { AsyncLocalStorage } from 'node:async_hooks'
import { originOf } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { OpenTransaction } from '../port.ts'

/** The transactions of one `locks` object: which is open in this chain of calls, and which belongs to which `tx`. */
export interface Scope<Tx> {
  readonly current: () => OpenTransaction<Tx> | undefined
  /** Runs the work as a part of the transaction, until `leave`. */
  readonly enter: <T>(
    transaction: OpenTransaction<Tx>,
    work: () => Promise<T>,
    /** What nobody else can have the turn of before the transaction's end. */
    lane?: string,
  ) => Promise<T>
  readonly leave: (transaction: OpenTransaction<Tx>) => void
  /** The open transaction of a `tx` that was given to the caller's work. */
  readonly find: (tx: Tx) => OpenTransaction<Tx>
}

/**
 * Where work stands while its transaction is open. Emptied at its end: whatever was started inside keeps this for as
 * long as it lives, and would else keep the transaction and its connection's whole session with it.
 */
interface Place {
  readonly scope: object
  readonly source: object | undefined
  transaction: unknown
  readonly lane: string | undefined
  /** Work in a transaction may open one of other locks. */
  outer: Place | undefined
}

/**
 * One for all `locks` objects. Before Node 24 a storage that was used once is asked at every promise of the process, and
 * is never collected: an application that makes its locks for each tenant would grow slower and slower.
 */
const here = new AsyncLocalStorage<Place>()

/** Those around that are open. One that is over is left out: a timer that starts the next again and again has no end. */
function openPlace(place: Place | undefined): Place | undefined {
  let open = place
  while (open !== undefined && open.transaction === undefined) open = open.outer
  if (open !== undefined) open.outer = openPlace(open.outer)
  return open
}

/** The refusal of what would wait for the end of a transaction that is open in this very chain of calls. */
export function waitsForItself(lane: string | undefined): LockUsageError | undefined {
  let place = lane === undefined ? undefined : openPlace(here.getStore())
  while (place !== undefined && place.lane !== lane) place = openPlace(place.outer)
  return (
    place &&
    new LockUsageError(
      'nested',
      'a transaction on this database is open in this call chain, and only one at a time can write: this call would wait ' +
        'for itself. Make it before or after the transaction, or pass { tx } where the call takes it',
    )
  )
}

/** Throws that refusal. */
export function mustNotWaitForItself(lane: string | undefined): void {
  const refusal = waitsForItself(lane)
  if (refusal !== undefined) throw refusal
}

/** The lock, if a transaction of any `locks` on this source holds it in this chain of calls. */
export function heldAround(source: object | undefined, id: string): Receipt | undefined {
  let place = source && openPlace(here.getStore())
  for (; place !== undefined; place = openPlace(place.outer)) {
    const held = (place.transaction as OpenTransaction<unknown>).named.get(id)
    if (place.source === source && held !== undefined) return held
  }
  return undefined
}

const notOpen = 'is not an open transaction of these locks: use the tx that locks.transaction passes in'
const spansTwo =
  'belongs to other locks, and no transaction spans two databases: use the tx that the transaction of these locks passes ' +
  'in. What two databases have to agree on takes a message between them: see docs/two-databases.md'
const ofOneSource = 'belongs to other locks on the same pool: make them once, and share them'

/** Why it is not one of these: it is of other locks, in whose transaction this chain of calls is, or of nobody's. */
function whyNot(tx: unknown, source: object | undefined): string {
  for (let place = openPlace(here.getStore()); place !== undefined; place = openPlace(place.outer)) {
    if ((place.transaction as OpenTransaction<unknown>).session.tx === tx)
      return source !== undefined && place.source === source ? ofOneSource : spansTwo
  }
  return notOpen
}

export function createScope<Tx>(source?: object): Scope<Tx> {
  // Not a Map: the tables that one outgrows point at their successors, and so keep every transaction until the next
  // full collection of garbage.
  const places = new WeakMap<WeakKey, Place>()
  const scope: Scope<Tx> = {
    // work that was started inside a transaction and outlives it is outside again
    current: () => {
      let place = here.getStore()
      while (place !== undefined && place.scope !== scope) place = place.outer
      return place?.transaction as OpenTransaction<Tx> | undefined
    },
    enter: (transaction, work, lane) => {
      const place: Place = { scope, source, transaction, lane, outer: openPlace(here.getStore()) }
      places.set(transaction.session.tx as WeakKey, place)
      return here.run(place, work)
    },
    leave: (transaction) => {
      const tx = transaction.session.tx as WeakKey
      const place = places.get(tx)
      if (place?.transaction !== transaction) return
      place.transaction = undefined
      places.delete(tx)
    },
    find: (tx) => {
      const found = places.get(originOf(tx as WeakKey))?.transaction as OpenTransaction<Tx> | undefined
      if (found === undefined) throw new LockUsageError('tx', whyNot(tx, source))
      return found
    },
  }
  return scope
}
