import type { Mutable } from '../core/mutable.ts'

/** Says more in an event. Never throws: a subscriber may have frozen it, and the lock has to go on all the same. */
export function note<Event extends object>(event: Event, more: Partial<Mutable<Event>>): void {
  for (const [field, value] of Object.entries(more)) Reflect.set(event, field, value)
}
