import { inspect } from 'node:util'

import type { TraceEvent } from './report.ts'

/** Writes down what the sessions of a law do, and when. */
export interface Tracer {
  /** Watches one action from now until it ends. */
  readonly watch: (actor: string, does: string, work: Promise<unknown>) => Watched
  readonly events: () => readonly TraceEvent[]
}

export interface Watched {
  /** It was seen waiting. */
  readonly waits: () => void
}

type Draft = { -readonly [K in keyof TraceEvent]: TraceEvent[K] }

export function createTracer(now: () => number = () => performance.now()): Tracer {
  const began = now()
  const since = (): number => Math.round((now() - began) * 10) / 10
  const events: Draft[] = []
  return {
    watch: (actor, does, work) => {
      const event: Draft = { actor, does, startMs: since(), outcome: 'unfinished' }
      events.push(event)
      let hasWaited = false
      const end = (outcome: Draft['outcome'], value: unknown): void => {
        event.endMs = since()
        event.outcome = hasWaited && outcome === 'done' ? 'waits' : outcome
        const detail = describeValue(value)
        if (detail !== undefined) event.detail = detail
      }
      work.then(
        (value) => end('done', value),
        (error: unknown) => end('failed', error),
      )
      return { waits: () => (hasWaited = true) }
    },
    events: () => structuredClone(events),
  }
}

/** A value or an error in one line. Of objects no more than that they are some: a driver's may hold a password. */
export function describeValue(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (value instanceof Error) return `${value.name}: ${value.message}`.split('\n', 1)[0]
  if (Array.isArray(value)) return `[${value.map((item) => describeValue(item) ?? 'nothing').join(', ')}]`
  return typeof value === 'object' && value !== null ? 'an object' : inspect(value).replaceAll(/^'|'$/g, '')
}
