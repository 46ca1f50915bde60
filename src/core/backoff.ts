import { checkWork, onlyKnown, show } from './check-field.ts'
import { LockUsageError } from './errors.ts'

/** How long the pauses between attempts are: random, up to a ceiling that rises with each attempt. */
export interface BackoffOptions {
  /** The longest pause before the first retry. @default 10 */
  readonly baseMs?: number
  /** No pause is longer. @default 1000 */
  readonly capMs?: number
  /** How much longer each next pause may be. @default 2 */
  readonly factor?: number
  /** A number from 0 up to 1; told by tests that need the same pauses twice. @default Math.random */
  readonly random?: () => number
}

const fields = ['baseMs', 'capMs', 'factor', 'random']

/** Refuses pauses that would be none, or would end in an error where nobody looks for it. */
export function checkBackoff(backoff: BackoffOptions): void {
  onlyKnown(backoff, fields, 'backoff')
  const { random, ...numbers } = backoff
  for (const [field, value] of Object.entries(numbers))
    if (value !== undefined && !(typeof value === 'number' && value >= 0))
      throw new LockUsageError(`backoff.${field}`, `${show(value)} is not a number from 0 up`)
  if (random !== undefined) checkWork(random, 'backoff.random', 'Math.random')
}

/**
 * How long to pause before retry number `retry` (the first is 1), jittered from the first one on.
 *
 * Full jitter: anywhere between one millisecond and the exponential ceiling. Losers of one conflict that paused
 * equally long would only meet again.
 */
export function backoffMs(retry: number, options: BackoffOptions = {}): number {
  const { baseMs = 10, capMs = 1000, factor = 2, random = Math.random } = options
  if (!Number.isInteger(retry) || retry < 1)
    throw new LockUsageError('retry', `${retry} is not the number of a retry`)
  const ceiling = Math.min(capMs, baseMs * factor ** (retry - 1))
  return Math.max(1, Math.ceil(random() * ceiling))
}
