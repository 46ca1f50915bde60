import { randomBytes } from 'node:crypto'

import type { Isolation, Row, SharedLocks, Target, Value } from 'holdfast'

/** A database that a story has to itself. */
export interface Database<Tx = unknown> {
  /** The strictest that the engine has. */
  readonly isolation: Isolation
  /** Connects as each process of an application does: with a pool and with locks of its own. */
  readonly connect: () => Promise<Connected<Tx>>
  /** Takes the database away. */
  readonly drop: () => Promise<void>
}

export interface Connected<Tx = unknown> {
  /** What every engine gives, so without the waits that only some have. */
  readonly locks: SharedLocks<Tx> & { readonly rows: (tx: Tx, target: Target) => Promise<readonly Row[]> }
  /** Sends a statement in a transaction, as the driver's own `tx.query` or `tx.prepare` would. */
  readonly query: (tx: Tx, sql: string, params: readonly Value[]) => Promise<readonly Row[]>
  /** Sends a statement that is a transaction by itself. */
  readonly queryAlone: (sql: string) => Promise<readonly Row[]>
  readonly close: () => Promise<void>
}

export function newName(): string {
  return `holdfast_example_${randomBytes(6).toString('hex')}`
}

/** The same address, leading into another database. */
export function intoDatabase(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

/** Where the server is that a dialect is tried on. */
export function urlOf(dialect: string): string {
  const variable = `HOLDFAST_${dialect.toUpperCase()}_URL`
  const url = process.env[variable]
  if (url === undefined) throw new Error(`${variable} is to say where the server is`)
  return url
}
