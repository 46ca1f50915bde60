import { setMaxListeners } from 'node:events'

import { LockUsageError } from './errors.ts'
import { inWords } from './in-words.ts'
import type { LeaseTerms, TableName, Target, Wait } from './request.ts'
import type { Value } from './statement.ts'

/** The longest wait that every engine's own setting can hold (32 bits of milliseconds, almost 25 days). */
const maxTimeoutMs = 2_147_483_647

/**
 * Refuses a misspelt field: a lock option that is silently ignored is a lock that is weaker than asked. `place`: the option
 * whose fields they are.
 */
export function onlyKnown(request: object, known: readonly string[], place?: string): void {
  checkObject(place ?? 'options', request, known)
  for (const field of Object.keys(request)) {
    if (known.includes(field)) continue
    const isOfWait = field === 'timeoutMs' && known.includes('wait')
    const words = isOfWait ? 'belongs to wait: pass wait: { timeoutMs }' : 'is not a field of this request'
    throw new LockUsageError(
      place === undefined ? field : `${place}.${field}`,
      isOfWait ? words : `${words}; known: ${known.join(', ')}`,
    )
  }
}

/** What holds fields: a number or a text in its place would be taken for nothing asked at all. */
export function checkObject(field: string, value: unknown, fields: readonly string[] = []): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  const known = fields.length === 0 ? '' : `, with any of ${fields.join(', ')}`
  throw new LockUsageError(
    field,
    `${Array.isArray(value) ? 'a list' : show(value)} is not an object: pass one${known}`,
  )
}

export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined) return
  // One may end a hundred calls: Node 20 would take the eleventh that listens for a leak, and print a warning.
  if (signal instanceof AbortSignal) return setMaxListeners(0, signal)
  const isController = (signal as unknown) instanceof AbortController
  throw new LockUsageError(
    'signal',
    isController ? 'is an AbortController: pass its signal' : `${show(signal)} is not an AbortSignal`,
  )
}

export function oneOf<T extends string>(field: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined)
    throw new LockUsageError(field, `${show(value)} is not one of ${allowed.join(', ')}`)
  return found
}

export function checkFlag(field: string, value: boolean | undefined): boolean {
  if (value !== undefined && typeof value !== 'boolean')
    throw new LockUsageError(field, `${show(value)} is not true or false`)
  return value ?? false
}

/** The function that a call is to run. */
export function checkWork(work: unknown, field = 'work', like = 'async (tx) => { ... }'): void {
  if (typeof work !== 'function')
    throw new LockUsageError(field, `${show(work)} is not a function: pass one, as in ${like}`)
}

export function checkWait(wait: Wait): Wait {
  if (typeof wait === 'number')
    throw new LockUsageError('wait', `${show(wait)} is a number: pass { timeoutMs: ${show(wait)} }`)
  if (typeof wait === 'object' && wait !== null) {
    onlyKnown(wait, ['timeoutMs'], 'wait')
    return { timeoutMs: checkDuration('wait.timeoutMs', wait.timeoutMs) }
  }
  return oneOf('wait', wait, ['block', 'nowait', 'skip'] as const)
}

export function waitWithoutSkip(wait: Wait | undefined): Exclude<Wait, 'skip'> {
  const checked = checkWait(wait === undefined ? 'block' : wait)
  if (checked === 'skip')
    throw new LockUsageError('wait', "only rows can be skipped: use 'nowait' or { timeoutMs }")
  return checked
}

/** A duration in whole milliseconds; a fraction is rounded up, so that no wait is shorter than asked. */
export function checkDuration(field: string, value: number, maxMs: number = maxTimeoutMs): number {
  if (typeof value !== 'number' || !(value > 0) || value > maxMs) {
    throw new LockUsageError(field, `${show(value)} is not a number of milliseconds from 1 to ${maxMs}`)
  }
  return Math.ceil(value)
}

/** A duration that only the table of leases is told of, which holds any: up to a hundred years. */
export function checkPeriod(field: string, value: number): number {
  return checkDuration(field, value, 3_155_760_000_000)
}

export function checkLease(lease: LeaseTerms): LeaseTerms {
  onlyKnown(lease, ['owner', 'ttlMs'], 'lease')
  return { owner: checkName('lease.owner', lease.owner), ttlMs: checkDuration('lease.ttlMs', lease.ttlMs) }
}

export function checkTarget(target: Target): Target {
  onlyKnown(target, ['table', 'key'], 'target')
  if (Array.isArray(target.key))
    throw new LockUsageError('target.key', 'is a list: pass an object, as in { id: [1, 2] }')
  if (target.key !== undefined && target.key !== null) checkKeyObject(target.key)
  const entries = Object.entries(target.key ?? {})
  if (entries.length === 0)
    throw new LockUsageError('target.key', 'names no column, so it would lock every row')
  for (const [column, value] of entries) checkKeyColumn(column, value)
  return { table: checkTableName('target.table', target.table), key: target.key }
}

function checkKeyObject(key: unknown): void {
  if (typeof key !== 'object')
    throw new LockUsageError(
      'target.key',
      `${show(key)} names no column: pass an object, as in { id: ${show(key)} }`,
    )
}

function checkKeyColumn(column: string, value: Value | readonly Value[]): void {
  const field = `target.key.${checkName('target.key', column)}`
  if (!Array.isArray(value)) return checkKeyValue(field, value)
  if (value.length === 0) throw new LockUsageError(field, 'is an empty list, so it would lock nothing')
  for (const one of value) checkKeyValue(field, one)
}

/** The value that one column of a key has in the row that is meant. */
export function checkKeyValue(field: string, value: unknown): void {
  if (value === undefined)
    throw new LockUsageError(field, 'is undefined: pass the value that the column has in the row')
  if (value === null)
    throw new LockUsageError(field, 'is null, which equals no row, so it would lock nothing')
  if (Array.isArray(value))
    throw new LockUsageError(field, 'is a list where one value belongs: pass a string, a number or a bigint')
  if (Number.isNaN(value)) throw new LockUsageError(field, 'NaN equals no row: pass a number')
  if (isRounded(value)) {
    throw new LockUsageError(
      field,
      `${show(value)} is a number that JavaScript cannot hold exactly, so another row may be meant: pass a bigint or a string`,
    )
  }
}

/** A number beyond 2^53 stands for several. */
export function isRounded(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

export function checkTableName(field: string, table: TableName): TableName {
  const parts = typeof table === 'string' ? [table] : table
  if (!Array.isArray(parts) || parts.length === 0)
    throw new LockUsageError(field, 'must be a name, or a list of names')
  for (const part of parts) checkName(field, part)
  return table
}

/** An identifier that can be quoted: text, not empty, without NUL, which ends a name early in some engines. */
export function checkName(field: string, name: unknown): string {
  if (typeof name !== 'string' || name === '') throw new LockUsageError(field, `${show(name)} is not a name`)
  if (name.includes('\0')) throw new LockUsageError(field, 'a name cannot hold a NUL character')
  if (!name.isWellFormed()) throw new LockUsageError(field, 'a name cannot hold half of a surrogate pair')
  return name
}

export function checkNames(field: string, names: readonly unknown[]): readonly string[] {
  if (!Array.isArray(names)) throw new LockUsageError(field, `${show(names)} is not a list of names`)
  return names.map((name) => checkName(field, name))
}

export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  return typeof value === 'string' ? JSON.stringify(value) : inWords(value)
}
