import { classifyAmong, type ErrorSource } from '../core/classify.ts'
import type { Mutable } from '../core/mutable.ts'
import type { EventFailure } from './shapes.ts'

/** `sources`: the databases that the error may come from. */
export function noteFailure(
  event: Mutable<EventFailure>,
  error: unknown,
  sources: readonly ErrorSource[],
): void {
  event.error = error
  event.errorKind = classifyAmong(error, sources).kind
}
