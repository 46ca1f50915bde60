/** How long things may take before they are given up. */
export const limits = {
  /** Until a server has let us in and has said what it is. */
  openMs: 10_000,
  /** For making or removing a database. */
  workMs: 30_000,
  /** For the words with which a connection takes its leave. */
  goodbyeMs: 2000,
} as const
