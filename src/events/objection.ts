import type { TransactionEvent } from './shapes.ts'

/** Makes the error that a transaction rejects with. `isStored`: it has been committed before anybody objected. */
export type Objection = (isStored: boolean) => Error

/** One for all copies of the package, of which those who object may have another; and not on the event, which may be frozen. */
const place = Symbol.for('holdfast:objections')

const known = globalThis as { [place]?: WeakMap<object, Objection> }

/** Makes a transaction reject, and roll back where it has not been committed. The first objection counts. */
export function objectTo(event: TransactionEvent, objection: Objection): void {
  const objections = (known[place] ??= new WeakMap())
  if (!objections.has(event)) objections.set(event, objection)
}

export function objectionTo(event: TransactionEvent | undefined): Objection | undefined {
  return event && known[place]?.get(event)
}
