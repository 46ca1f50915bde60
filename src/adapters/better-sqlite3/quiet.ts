/**
 * Until everything has been done that waits for nothing: whatever follows from promises that are fulfilled. Node runs
 * what is given to `nextTick` when no such step is left.
 */
export function untilQuiet(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve)
  })
}
