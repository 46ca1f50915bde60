import type { Row, SharedLocks, Target } from 'holdfast'

import type { Tables } from './tables.ts'

/** One kind of database: what each file of this folder that is named after a driver gives. */
export interface Database<Tx> {
  /**
   * Whether a transaction without locks, at READ COMMITTED, may overwrite what another has written since it read. Where
   * the database refuses that, or has one writer, the same bug is made by statements that are not in a transaction.
   */
  readonly isBlindToOthers: boolean
  /** Connects as each process of an application does: with a pool and with locks of its own. */
  readonly connect: (place: Place) => Promise<Connection<Tx>>
}

export interface Place {
  /** As the command line has it. */
  readonly url: string
  /** The database that the story has to itself: its name on the server, or its file. */
  readonly name: string
  /** How many connections the pool has at most. */
  readonly size: number
}

export interface Connection<Tx> {
  readonly locks: StoryLocks<Tx>
  /** The tables, inside of a transaction; without one, each statement is a transaction by itself. */
  readonly tables: (tx?: Tx) => Tables
  readonly close: () => Promise<unknown>
}

/** What every database gives, so without the waits that only some have. */
export interface StoryLocks<Tx> extends SharedLocks<Tx> {
  readonly rows: <R extends object = Row>(
    tx: Tx,
    target: Target,
    options?: { readonly wait?: 'block' | 'nowait' },
  ) => Promise<readonly R[]>
}

/** The same address, leading into another database of the server. */
export function intoDatabase(url: string, name: string): string {
  // a percent sign that begins no code can only be meant as it stands
  const address = new URL(url.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))
  address.pathname = `/${name}`
  // a driver may let an option overrule the path
  for (const option of ['database', 'db', 'dbname']) address.searchParams.delete(option)
  return address.href
}
