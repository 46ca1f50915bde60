/** What the driver does with an operation. */
export type Sign = 'start' | 'answer' | 'end'

/**
 * Reads from what the driver asks a session what becomes of the operations in it: it tells nobody, but has to ask.
 *
 * When it starts one it asks whether the session has ended, whether it is for snapshots, then at once for its client,
 * and a little later whether it is pinned. When it has an answer, or has lost the connection, it asks again whether it
 * is for snapshots. At the end it asks for the owner, twice in a row if there is one; a cursor that is closed asks
 * once. All versions from 7.0 to 7.8 do so. No version promises it, so it is tried before it is relied on.
 */
export class Reads {
  #lastAsked: PropertyKey | undefined
  #isStarting = false

  note(asked: PropertyKey): Sign | undefined {
    const before = this.#lastAsked
    this.#lastAsked = asked
    const isForSnapshots = before === 'snapshotEnabled'
    if (asked === 'client' && isForSnapshots) this.#isStarting = true
    else if (asked === 'hasEnded' || asked === 'snapshotEnabled') this.#isStarting = false // it was refused
    else if (asked === 'isPinned' && this.#isStarting) {
      this.#isStarting = false
      return 'start'
    } else if (asked === 'owner' && before === 'owner') {
      this.#lastAsked = undefined
      return 'end'
    }
    return isForSnapshots && asked !== 'client' ? 'answer' : undefined
  }
}
