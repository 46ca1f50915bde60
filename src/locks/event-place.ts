import type { EventPlace } from '../events/shapes.ts'
import type { AskServer } from './port.ts'

/** What is asked of a port, whatever its transactions are. */
export interface Whence {
  readonly sessions: { readonly adapter?: string }
  readonly server: Pick<AskServer, 'dialect'>
}

/** Where the events of a port happen, as far as it is known by now. */
export function placeOf({ sessions, server }: Whence): EventPlace {
  return { adapter: sessions.adapter ?? 'custom', dialect: server.dialect?.() }
}
