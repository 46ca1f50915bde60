import type { TransactionEvent } from './shapes.ts'

/** Makes the error that a transaction rejects with. `isStored`: it has been committed before anybody objected. */
export type Objection = (isStored: boolean) => Error

/** On the event itself: those who object may have been loaded from another copy of the package. */
const mark = Symbol.for('holdfast:objection')

interface Marked {
  [mark]?: Objection
}

/** Makes a transaction reject, and roll back where it has not been committed. The first objection counts. */
export function objectTo(event: TransactionEvent, objection: Objection): void {
  if ((event as Marked)[mark] === undefined) Reflect.defineProperty(event, mark, { value: objection })
}

export function objectionTo(event: TransactionEvent | undefined): Objection | undefined {
  return (event as Marked | undefined)?.[mark]
}
