import { asError, inWords } from '../core/in-words.ts'
import type { LockKey } from '../core/key.ts'
import type { Wait } from '../core/request.ts'
import type { EventFailure, EventPlace } from '../events/shapes.ts'
import { textOfKey } from '../locks/refused.ts'
import { statusError, type OtelAttributes, type OtelSpan } from './api.ts'

/** How attributes are written. */
export interface Wording {
  /** What the conventions call a database, by the name of its dialect, where that is another one. */
  readonly systems: Readonly<Record<string, string>>
  /** Whether spans say what may tell of a person: keys, ids of jobs, and the messages of errors, which name the key. */
  readonly hasKeys: boolean
}

/** What is there only where it is known. */
type Maybe = Readonly<Record<string, OtelAttributes[string] | undefined>>

/** Without what is undefined. */
export function known(attributes: Maybe): OtelAttributes {
  const found: OtelAttributes = {}
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) found[name] = value
  return found
}

export function placeWords({ systems }: Wording, { adapter, dialect }: EventPlace): Maybe {
  return {
    'db.system.name': dialect === undefined ? undefined : (systems[dialect] ?? dialect),
    'holdfast.adapter': adapter,
  }
}

/** Of spans alone: a metric with a series for each key would grow without end. */
export function keyWords({ hasKeys }: Wording, key: LockKey | undefined): string | undefined {
  return hasKeys && key !== undefined ? textOfKey(key) : undefined
}

export function idWords({ hasKeys }: Wording, id: unknown): string | undefined {
  return hasKeys ? inWords(id) : undefined
}

/** How it is waited for. */
export function waitWords(wait: Wait): string {
  return typeof wait === 'object' ? 'timeout' : wait
}

/** In seconds, where there is an end to it. */
export function timeoutOf(wait: Wait): number | undefined {
  return typeof wait === 'object' ? wait.timeoutMs / 1000 : undefined
}

/** What went wrong, in one of a few words. */
export function errorType({ errorKind = 'other' }: EventFailure): string {
  return errorKind === 'other' ? '_OTHER' : errorKind
}

/** Marks a span as failed. */
export function markFailed(
  span: OtelSpan,
  type: string,
  said: { readonly hasKeys: boolean; readonly error?: unknown },
): void {
  const { hasKeys, error } = said
  span.setAttributes({ 'error.type': type })
  const isShown = hasKeys && error !== undefined
  span.setStatus(isShown ? { code: statusError, message: asError(error).message } : { code: statusError })
}
