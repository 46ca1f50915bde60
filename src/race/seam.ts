import type { Gate } from './gate.ts'
import type { Observer } from './observer.ts'

/** How the statements of one driver are held back: its own object is changed for a while, and put back. */
export interface Seam {
  /** The driver or library, such as `pg`. */
  readonly driver: string
  /** Whether something is what this seam can hold back. */
  readonly is: (db: object) => boolean
  /** Its statements cannot be held back: only when an actor begins can be chosen. */
  readonly isSynchronous?: true
  /** What has to be known before the report can be understood. */
  readonly notes?: readonly string[]
  /** Changes the object, so that statements go through the gate. Gives what puts it back. */
  readonly install: (db: object, gate: Gate) => Promise<() => void> | (() => void)
  /** Opens a connection of its own to look at the server. Undefined where nobody waits in the server. */
  readonly observe?: (db: object) => Observer | undefined
  /** Ends a connection that an actor has left behind; `kill` ends its session on the server. */
  readonly end: (connection: object, kill: () => Promise<void>) => Promise<void>
}
