/**
 * What a process has written into the log of a storm, one line each. All times are milliseconds of the machine's monotonic
 * clock, which is the same for all of its processes.
 */
export type Entry = Looked | Ended | Failed

/** At `at` its lease told it that it may be relied on until `until`. */
export interface Looked extends Holder {
  readonly at: number
  readonly until: number
}

/** From here on it relies on the lease no longer. Written before the lease is released. */
export interface Ended extends Holder {
  readonly endedAt: number
}

interface Holder {
  readonly by: number
  readonly fence: number
}

/** It was refused the lease with an error, and asks again. */
export interface Failed {
  readonly by: number
  readonly failed: string
}

export function lineOf(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`
}

/** What follows the last end of a line is still being written. */
export function entriesIn(text: string): readonly Entry[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry)
}
