import type { Session, Sessions } from '../core/session.ts'
import type { Row, Statement } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { DialectTools } from '../dialects/tools.ts'
import type { Locks } from '../locks.ts'
import type { DialectName } from '../registry.ts'

/** A database, reached in one way: what the laws are run on. */
export interface Subject {
  /** For people, without secrets: `postgres through pg`. */
  readonly title: string
  /** How statements reach it: `pg`, `kysely`. */
  readonly adapter: string
  /**
   * The dialects that the way in can reach; the server says which it is. By name, or as what is left of one where the
   * way in cannot do all that the database can.
   */
  readonly dialects: readonly (DialectName | Dialect)[]
  /**
   * What its connections call themselves, where the server tells them apart by that: a transaction that says no more of
   * itself is taken for the law's only when it has this name.
   */
  readonly application?: string
  /** A session has a connection only inside of a transaction: that the server has ended one is not seen afterwards. */
  readonly isUnpinned?: boolean
  /** Opens a pool of its own, as one more application would, of about this many connections. */
  readonly connect: (size: number) => Promise<Connected>
}

/** An open pool. */
export interface Connected {
  readonly sessions: Sessions<object>
  /** How many connections it lends at once, where that is not what was asked for. */
  readonly size?: number
  readonly close: () => Promise<void>
  /** Runs a statement of the application on its `tx`, where that is not what the session does. */
  readonly run?: (tx: object, statement: Statement) => Promise<readonly Row[]>
}

/** One application: a pool, and locks on it. */
export interface Client {
  readonly locks: Locks<object>
  readonly sessions: Sessions<object>
  /** What its locks take the server for. */
  readonly server: { readonly dialect: Dialect; readonly version: string }
  /** How many connections its pool lends at once. */
  readonly size: number
  /** Runs a statement of the application in its transaction. */
  readonly run: (tx: object, statement: Statement) => Promise<readonly Row[]>
  readonly close: () => Promise<void>
}

/** What is wrong with the wire, and no fault of the client. */
export type Fault = (session: Session<object>) => Session<object>

/** How a client is made worse than it is: for controls, and to see that laws notice. */
export interface Sabotage {
  /** In one sentence, what the client then does wrong. */
  readonly does: string
  /** Another dialect in the place of the right one. */
  readonly dialect?: (dialect: Dialect) => Dialect
  readonly session?: (session: Session<object>) => Session<object>
  readonly client?: (client: Client, tools: DialectTools) => Client
}
