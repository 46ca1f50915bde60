import type { LockMode } from '../core/request.ts'
import type { Row, Value } from '../core/statement.ts'
import type { Change, Command, Condition, Find, Insert, InsertAll, Lock } from './command.ts'
import { MemoryError, outOfOrder } from './error.ts'
import type { Owner } from './lock-table.ts'
import { arranged, meets } from './match.ts'
import type { Memory } from './memory.ts'
import { seenBy, type Slot } from './tables.ts'

/** Where a statement runs: on a connection, in a transaction. */
export interface Place {
  readonly memory: Memory
  readonly by: Owner
  /** The tables that it has read, as they were; undefined where it does not matter that others change them. */
  readonly seen: Map<string, number> | undefined
  readonly isReadOnly: boolean
  /** How long it waits for a lock that does not say. */
  readonly lockTimeoutMs: number | undefined
  /** The rows that its transaction has changed. */
  readonly touched: Set<Slot>
}

/** Carries out a statement. */
export async function carryOut(place: Place, asked: Command): Promise<readonly Row[]> {
  const { memory } = place
  switch (asked.do) {
    case 'find':
      return find(place, asked)
    case 'change':
      return change(place, asked)
    case 'insert':
      return insert(place, asked)
    case 'insert-all':
      return insertAll(place, asked)
    case 'lock':
      return [{ answer: (await lock(place, asked)) ? 1 : 0 }]
    case 'unlock':
      return [{ answer: memory.locks.release({ ...asked, by: place.by }) ? 1 : 0 }]
    case 'lease':
      // who finds that it lasts does not wait for those who work under it
      if (memory.leases.leftMs(asked.claim.name) === undefined)
        await hold(place, `lease ${asked.claim.name}`, { mode: 'exclusive' })
      return memory.leases.take(asked.claim)
    case 'renew':
      return memory.leases.renew(asked.held, asked.ttlMs)
    case 'end-lease':
      return memory.leases.end(asked.held, asked.holdMs, asked.news)
    case 'look':
      return memory.leases.seen(asked.names)
    case 'guard':
      await hold(place, `lease ${asked.held.name}`, { mode: 'shared' })
      return memory.leases.check(asked.held)
    case 'admit':
      await hold(place, `fence ${asked.name}`, { mode: 'exclusive' })
      return memory.leases.admit(asked.name, asked.fence)
    case 'tell':
      memory.topics.tell(asked.topic, asked.text)
      return []
    case 'nothing':
      return [{ version: '1' }]
  }
}

function find(place: Place, { table, where, ...rest }: Find): readonly Row[] {
  const { memory, seen } = place
  if (seen?.has(table) === false) seen.set(table, memory.tables.versionOf(table))
  return arranged(rowsOf(place, table, where), rest).map(({ row }) => row)
}

/** Locks the rows first, and looks once more at what it had to wait for. */
async function change(place: Place, asked: Change): Promise<readonly Row[]> {
  const { memory, by } = place
  const { where, remove } = asked
  mayWrite(place)
  const changed: Row[] = []
  const locked = await lockedFor(place, asked)
  mustBeInOrder(place)
  for (const slot of locked) {
    const row = seenBy(by, slot)
    if (row === undefined || !where.every((condition) => meets(row, condition, memory.nowMs()))) continue
    const next = remove === true ? undefined : { ...row, ...valuesOf(place, asked, row) }
    slot.pending = { by, row: next }
    place.touched.add(slot)
    changed.push(next ?? row)
  }
  return changed
}

/** The rows of a change, locked. */
async function lockedFor(
  place: Place,
  { table, where, order, limit, skip, waitMs }: Change,
): Promise<Slot[]> {
  const { memory, by } = place
  const found = arranged(rowsOf(place, table, where), { ...(order && { order }) }).map(({ slot }) => slot)
  const locked: Slot[] = []
  for (const slot of found) {
    if (locked.length === limit) break
    if (skip !== true) await hold(place, slot.lock, { mode: 'exclusive', waitMs })
    else if (!memory.locks.tryNow({ by, name: slot.lock, mode: 'exclusive', until: 'transaction' })) continue
    locked.push(slot)
  }
  return locked
}

async function insert(place: Place, asked: Insert): Promise<readonly Row[]> {
  const { memory, by } = place
  const { table, key, unlessThere } = asked
  mayWrite(place)
  const row = { ...asked.row, ...valuesOf(place, { ...(asked.inMs && { inMs: asked.inMs }) }, {}) }
  if (key !== undefined) {
    const value = row[key] as Value
    // of two that insert the same, the second waits for what becomes of the first
    await hold(place, `key ${table} ${typeof value} ${String(value)}`, { mode: 'exclusive' })
    if (rowsOf(place, table, [{ column: key, is: [value] }]).length > 0) {
      if (unlessThere === true) return []
      throw new MemoryError('MEMORY_UNIQUE', `${table} has a row with the ${key} ${String(value)}`)
    }
  }
  const slot = memory.tables.add(table)
  slot.pending = { by, row }
  place.touched.add(slot)
  await hold(place, slot.lock, { mode: 'exclusive' })
  return [row]
}

function freeNumber(place: Place, table: string, id: string): number {
  for (;;) {
    const number = place.memory.tables.number()
    if (rowsOf(place, table, [{ column: id, is: [number] }]).length === 0) return number
  }
}

async function insertAll(place: Place, { table, rows, id, unique }: InsertAll): Promise<readonly Row[]> {
  const stored: Row[] = []
  for (const row of rows) {
    const numbered = { ...row, [id]: row[id] ?? freeNumber(place, table, id) }
    const key = unique === undefined ? { key: id } : { key: unique, unlessThere: true as const }
    stored.push(...(await insert(place, { do: 'insert', table, row: numbered, ...key })))
  }
  return stored
}

function mayWrite({ isReadOnly }: Place): void {
  if (isReadOnly)
    throw new MemoryError('MEMORY_READ_ONLY', 'the transaction was begun as one that only reads')
}

/** From REPEATABLE READ up: whoever has read what another has changed since cannot have come after it, nor before. */
export function mustBeInOrder({ memory, seen }: Place): void {
  for (const [table, version] of seen ?? [])
    if (memory.tables.versionOf(table) !== version) throw outOfOrder()
}

function valuesOf(
  { memory }: Place,
  { set, add, inMs }: Pick<Change, 'set' | 'add' | 'inMs'>,
  row: Row,
): Row {
  const values: Record<string, unknown> = { ...set }
  for (const [column, ms] of Object.entries(inMs ?? {})) values[column] = memory.nowMs() + ms
  for (const [column, by] of Object.entries(add ?? {})) values[column] = Number(row[column] ?? 0) + by
  return values
}

function lock({ memory, by, lockTimeoutMs }: Place, asked: Lock): Promise<boolean> {
  const { name, label, mode, until, waitMs = lockTimeoutMs } = asked
  const granted = memory.locks.acquire({ by, name, label, mode, until, waitMs })
  if (asked.waitMs === 0) return granted
  return granted.then((isGranted) => isGranted || notInTime())
}

interface Holding {
  readonly mode: LockMode
  readonly waitMs?: number | undefined
}

/** Until the end of the transaction, unless it is held already. */
async function hold(
  place: Place,
  name: string,
  { mode, waitMs = place.lockTimeoutMs }: Holding,
): Promise<void> {
  const { memory, by } = place
  const isHeld = memory.locks
    .granted()
    .some((grant) => grant.by === by && grant.name === name && grant.mode === mode)
  if (isHeld || (await memory.locks.acquire({ by, name, mode, until: 'transaction', waitMs }))) return
  notInTime()
}

export function notInTime(): never {
  throw new MemoryError('MEMORY_LOCK_TIMEOUT', 'the lock was not free in time')
}

interface Found {
  readonly slot: Slot
  readonly row: Row
}

function rowsOf({ memory, by }: Place, table: string, where: readonly Condition[]): readonly Found[] {
  const now = memory.nowMs()
  return memory.tables.slotsIn(table).flatMap((slot) => {
    const row = seenBy(by, slot)
    return row !== undefined && where.every((condition) => meets(row, condition, now)) ? [{ slot, row }] : []
  })
}
