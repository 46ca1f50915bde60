import { callPlace, type CallPlace } from './call-place.ts'

interface Told {
  /** Of one that is asked for again: how it was first. */
  readonly first?: object
}

/** Where what events tell of was called. */
export class Places {
  readonly #places = new WeakMap<object, CallPlace>()

  /** Called while the caller is on the stack. */
  note(event: object): void {
    const { first } = event as Told
    const place = (first && this.#places.get(first)) ?? callPlace()
    if (place !== undefined) this.#places.set(event, place)
  }

  of(event: object | undefined): CallPlace | undefined {
    return event && this.#places.get(event)
  }
}
