import type { Connected } from '../conformance/subject.ts'
import type { Finding } from '../core/attestation.ts'
import type { Session } from '../core/session.ts'
import type { Statement } from '../core/statement.ts'
import type { DialectName } from '../registry.ts'
import type { ConnectFailure } from './connect-error.ts'

/** How addresses of one kind become a pool, with a driver that the user has installed. */
export interface Driver {
  /** The npm package, which is also the adapter's name. */
  readonly name: string
  /** What is imported of the package, where that is not the package itself. */
  readonly module?: string
  /** What the addresses begin with, such as `postgres:`. */
  readonly protocols: readonly string[]
  /** How files end that are known without a protocol. Given for databases that are files. */
  readonly endings?: readonly string[]
  /** What such an address looks like, for messages. */
  readonly example: string
  readonly dialects: readonly DialectName[]
  /** Loads what the module itself loads at its first use only. Throws when that cannot be done. */
  readonly load?: (module: unknown) => void
  /** Opens a pool with the driver's own module. It may reject later, when the first session is opened. */
  readonly open: (module: unknown, url: string, size: number) => Promise<Connected>
  /** What the driver's errors mean, by their `code`, number or name. All others: the database cannot be reached. */
  readonly failures: Readonly<Record<string, ConnectFailure>>
  /** The text of an error of a refused log-in that has nothing else to be known by. */
  readonly loginText?: RegExp
  /** How to make a database that nobody else uses beside the one that the address names. It touches nothing else. */
  readonly scratch: (order: ScratchOrder) => Scratch & { readonly make: () => Promise<void> }
  /** What a user must be given to make a scratch database, for messages. */
  readonly scratchNeeds: string
  /** Tells, in the column `name`, which database a session is in. Absent where the address alone decides. */
  readonly currentDatabase?: Statement
  /** What is amiss with the packages of an application that lies in the folder. */
  readonly beside?: (folder: string) => Promise<readonly Finding[]>
  /** The names of all tables, views or collections that the database has. */
  readonly tables: (session: Session) => Promise<readonly string[]>
}

export interface ScratchOrder {
  /** The driver's own. */
  readonly module: unknown
  /** Where the user's own database is. */
  readonly url: string
  /** What the new one is called. */
  readonly name: string
  readonly reach: Reach
}

/** Runs work on one connection to an address, which is closed afterwards. Takes no longer than a minute. */
export type Reach = (url: string, work: (session: Session) => Promise<unknown>) => Promise<void>

/** A database that may be used for one run. */
export interface Scratch {
  /** Leads into it. */
  readonly url: string
  /** What connections to that address call themselves, where the server tells them apart by it. */
  readonly application?: string
  /** Removes it with all that is in it, whoever is connected to it. No error where there is none. */
  readonly drop: () => Promise<void>
}
