import type { Answers, DocumentCommand, Row, Value } from '../core/statement.ts'
import type { LeaseClaim, LeaseHeld, LeaseHolder } from '../dialects/lease.ts'

/** What a row must be like. `over`: empty, or a time that has passed. */
export type Condition = { readonly column: string } & (
  | { readonly is: readonly Value[] }
  | { readonly over: true }
  | { readonly set: true }
  | { readonly below: number }
  | { readonly atLeast: number }
)

interface OfRows {
  readonly table: string
  readonly where: readonly Condition[]
  readonly order?: readonly { readonly column: string; readonly direction: 'asc' | 'desc' }[]
  readonly limit?: number
}

export interface Find extends OfRows {
  readonly do: 'find'
}

/** Gives the rows as they are afterwards; as they were, where they are removed. */
export interface Change extends OfRows {
  readonly do: 'change'
  readonly set?: Row
  /** Adds to numbers; an empty one counts as 0. */
  readonly add?: Readonly<Record<string, number>>
  /** Times, so far from now. */
  readonly inMs?: Readonly<Record<string, number>>
  readonly remove?: true
  /** Leaves out what another has locked. */
  readonly skip?: true
  readonly waitMs?: number
}

/** Gives the row. Where another has the same value in the column `key`, an error, or no row. */
export interface Insert extends Pick<Change, 'inMs'> {
  readonly do: 'insert'
  readonly table: string
  readonly row: Row
  readonly key?: string
  readonly unlessThere?: true
}

/** Gives the rows that were stored. One whose value in the column `unique` another has is left out. */
export interface InsertAll {
  readonly do: 'insert-all'
  readonly table: string
  readonly rows: readonly Row[]
  /** Gets a number where a row has none. */
  readonly id: string
  readonly unique?: string
}

export interface Lock {
  readonly do: 'lock' | 'unlock'
  readonly name: string
  readonly label: string
  readonly mode: 'exclusive' | 'shared'
  readonly until: 'transaction' | 'session'
  readonly waitMs?: number
}

/** All that can be asked of the memory. It is data, as SQL is: plans and receipts show it. */
export type Command =
  | Find
  | Change
  | Insert
  | InsertAll
  | Lock
  | { readonly do: 'lease'; readonly claim: LeaseClaim }
  | { readonly do: 'renew'; readonly held: LeaseHeld; readonly ttlMs: number }
  | { readonly do: 'end-lease'; readonly held: LeaseHolder; readonly holdMs: number; readonly news: string }
  | { readonly do: 'look'; readonly names: readonly string[] }
  | { readonly do: 'guard'; readonly held: LeaseHeld }
  | { readonly do: 'admit'; readonly name: string; readonly fence: number }
  | { readonly do: 'tell'; readonly topic: string; readonly text: string }
  | { readonly do: 'nothing' }

export function command(asked: Command, answers?: Answers): DocumentCommand {
  return { command: { ...asked }, ...(answers && { answers }) }
}
