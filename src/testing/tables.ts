import type { Row } from '../core/statement.ts'
import type { Owner } from './lock-table.ts'

/** A row: as it is stored, and as the one transaction that has changed it sees it. Undefined where it is not there. */
export interface Slot {
  readonly table: string
  readonly lock: string
  stored: Row | undefined
  pending: { readonly by: Owner; readonly row: Row | undefined } | undefined
}

/** Rows in memory: nobody sees what another has not committed. */
export class Tables {
  readonly #slots = new Map<string, Set<Slot>>()
  readonly #versions = new Map<string, number>()
  #count = 0
  #numbers = 0

  /** Rises with every row of the table that is stored. */
  versionOf(table: string): number {
    return this.#versions.get(table) ?? 0
  }

  /** One that was not given before. */
  number(): number {
    return (this.#numbers += 1)
  }

  /** The rows of a table, those included that only some transaction sees. */
  slotsIn(table: string): readonly Slot[] {
    return [...(this.#slots.get(table) ?? [])]
  }

  /** A place for a row that is not there yet. */
  add(table: string): Slot {
    this.#count += 1
    const slot: Slot = { table, lock: `row ${this.#count}`, stored: undefined, pending: undefined }
    const slots = this.#slots.get(table) ?? new Set()
    this.#slots.set(table, slots.add(slot))
    return slot
  }

  drop(table: string): void {
    this.#slots.delete(table)
  }

  /** Ends what was pending, with or without it. */
  settle(slot: Slot, isStored: boolean): void {
    if (isStored && slot.pending !== undefined) {
      slot.stored = slot.pending.row
      this.#versions.set(slot.table, this.versionOf(slot.table) + 1)
    }
    slot.pending = undefined
    if (slot.stored === undefined) this.#slots.get(slot.table)?.delete(slot)
  }
}

export function seenBy(owner: Owner, { stored, pending }: Slot): Row | undefined {
  return pending?.by === owner ? pending.row : stored
}
