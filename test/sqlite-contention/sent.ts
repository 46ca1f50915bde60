/** What was sent through handles of better-sqlite3. */
export interface Sent {
  /** Each text that was watched for, and for how long SQLite could have slept on the thread at that moment. */
  readonly texts: readonly string[]
  /** How often a COMMIT was sent in a round of the event loop in which another had been. */
  readonly crowdedRounds: number
}

const endsOfTransactions = /^(?:BEGIN|COMMIT|ROLLBACK)/
const changeOfTimeout = /^PRAGMA busy_timeout = (\d+)$/

/** Notes what goes through the handles that it is told of: what begins and ends transactions, unless told otherwise. */
export function watchSent(watched: RegExp = endsOfTransactions): {
  /** For the `verbose` of a handle that is opened with this `timeout`. */
  readonly onHandle: (timeoutMs: number) => (text: unknown) => void
  readonly seen: () => Sent
} {
  const texts = new Set<string>()
  let hasCommitted = false
  let crowdedRounds = 0
  const noteCommit = (): void => {
    if (hasCommitted) crowdedRounds += 1
    else setImmediate(() => (hasCommitted = false))
    hasCommitted = true
  }
  const onHandle = (timeoutMs: number) => {
    let inForce = String(timeoutMs)
    return (said: unknown): void => {
      const text = String(said)
      inForce = changeOfTimeout.exec(text)?.[1] ?? inForce
      if (watched.test(text)) texts.add(`${text}, busy_timeout ${inForce}`)
      if (text === 'COMMIT') noteCommit()
    }
  }
  return { onHandle, seen: () => ({ texts: [...texts].toSorted(), crowdedRounds }) }
}
