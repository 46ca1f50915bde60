/** What is known of events that are not over. One that nobody else has in hand any more is forgotten. */
export class Book<Entry extends object> {
  readonly #entries = new WeakMap<object, { readonly entry: Entry; readonly ref: WeakRef<object> }>()
  readonly #refs = new Set<WeakRef<object>>()
  readonly #forgotten = new FinalizationRegistry<WeakRef<object>>((ref) => this.#refs.delete(ref))

  add(event: object, entry: Entry): void {
    const ref = new WeakRef(event)
    this.#entries.set(event, { entry, ref })
    this.#refs.add(ref)
    this.#forgotten.register(event, ref, ref)
  }

  get(event: object): Entry | undefined {
    return this.#entries.get(event)?.entry
  }

  /** The entry, which is in the book no longer. */
  take(event: object): Entry | undefined {
    const found = this.#entries.get(event)
    if (found === undefined) return undefined
    this.#entries.delete(event)
    this.#refs.delete(found.ref)
    this.#forgotten.unregister(found.ref)
    return found.entry
  }

  /** All that is open, and the book is empty. */
  takeAll(): readonly (readonly [event: object, entry: Entry])[] {
    return [...this.#refs].flatMap((ref) => {
      const event = ref.deref()
      const entry = event && this.take(event)
      return event === undefined || entry === undefined ? [] : [[event, entry] as const]
    })
  }
}
