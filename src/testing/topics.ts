type Wake = (message: string) => void

/** Who listens to what. */
export class Topics {
  readonly #ears = new Map<string, Set<Wake>>()

  /** Gives what ends the listening. */
  listen(topic: string, wake: Wake): () => void {
    const ears = this.#ears.get(topic) ?? new Set()
    this.#ears.set(topic, ears.add(wake))
    return () => void ears.delete(wake)
  }

  tell(topic: string, message: string): void {
    // as a message: never in the middle of what the teller does
    for (const wake of this.#ears.get(topic) ?? []) queueMicrotask(() => wake(message))
  }
}
