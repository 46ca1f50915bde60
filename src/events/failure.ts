import { classifyAmong, type ErrorSource } from '../core/classify.ts'
import { note } from './note.ts'
import type { EventFailure } from './shapes.ts'

/** `sources`: the databases that the error may come from. */
export function noteFailure(event: EventFailure, error: unknown, sources: readonly ErrorSource[]): void {
  note(event, { error, errorKind: classifyAmong(error, sources).kind })
}
