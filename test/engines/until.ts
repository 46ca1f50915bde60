import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until `condition` holds, looking about every 20 ms. Rejects at the deadline, which is against hanging only, and
 * says what never came.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not seen within ${deadlineMs} ms: ${what}`)
    await pause(20)
  }
}
