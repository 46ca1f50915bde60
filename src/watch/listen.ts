import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel'

/** Hears of events on these channels. Gives what ends it. */
export function listenTo(listeners: Readonly<Record<string, (event: never) => void>>): () => void {
  // each channel has events of its own kind
  const entries = Object.entries(listeners as unknown as Readonly<Record<string, ChannelListener>>)
  for (const [name, listener] of entries) subscribe(name, listener)
  return () => {
    for (const [name, listener] of entries) unsubscribe(name, listener)
  }
}

/** What a watch that goes on for the whole process gives back. */
export interface Watch {
  /** Ends it. */
  readonly stop: () => void
}
