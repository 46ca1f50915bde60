import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'

/** One thing that was told: on which channel, and what the event said at that moment. */
export interface Told {
  readonly on: string
  readonly said: Readonly<Record<string, unknown>>
}

const parts = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']

const channels = [
  ...['transaction', 'lock', 'lease', 'job'].flatMap((name) =>
    parts.map((part) => `tracing:holdfast:${name}:${part}`),
  ),
  'holdfast:transaction:retry',
  'holdfast:lock:ended',
  'holdfast:lease:ended',
  'holdfast:job:claimed',
]

/** Hears everything that is told from now to the end of the test, for which `isMine` holds. */
export function listen(isMine: (event: Record<string, unknown>) => boolean = () => true): Told[] {
  const told: Told[] = []
  for (const name of channels) {
    const hear = (event: unknown): void => {
      const said = { ...(event as Record<string, unknown>) }
      if (isMine(said)) told.push({ on: name.replace(/^(?:tracing:)?holdfast:/, ''), said })
    }
    subscribe(name, hear)
    onTestFinished(() => void unsubscribe(name, hear))
  }
  return told
}

/** What was told on these channels, in order. */
export function toldOn(told: readonly Told[], ...names: readonly string[]): readonly Told['said'][] {
  return told.filter(({ on }) => names.includes(on)).map(({ said }) => said)
}
