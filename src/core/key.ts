import { hash } from 'node:crypto'
import { LockUsageError } from './errors.ts'
import type { KeyPart, LockKey, RawKey } from './lock-key.ts'

export type { KeyPart, LockKey, RawKey } from './lock-key.ts'

/** A key as the engines take it. The same on every machine, every dialect and every later version. */
export interface CanonicalKey {
  /** The typed, length-prefixed text that is hashed. */
  readonly text: string
  /** 64 bits of SHA-256, signed, for engines that name locks by number. */
  readonly int64: bigint
  /** At most 64 characters of one case, with a readable start, for engines that name locks by text. */
  readonly name: string
}

/** Longer keys are refused: a key is a name, not a document. */
export const maxKeyBytes = 1024

/** Changing anything below splits a fleet that runs two versions, so the scheme has a number (see the golden vectors). */
const scheme = 'hf1'

export function isRawKey(key: LockKey): key is RawKey {
  return typeof key === 'object' && key !== null && 'raw' in key
}

/** The key as it is now: whoever has made it may change it for the next call. */
export function ownKey(key: LockKey): LockKey {
  if (Array.isArray(key)) return [...(key as readonly KeyPart[])]
  if (!isRawKey(key)) return key
  return key.raw === 'int32-pair' ? { ...key, values: [...key.values] } : { ...key }
}

/** The canonical form of a key. Rejects what cannot be told apart safely: empty, oversized, fractional, broken text. */
export function canonicalKey(key: Exclude<LockKey, RawKey>): CanonicalKey {
  const parts: readonly unknown[] = Array.isArray(key) ? key : [key]
  const written = asWritten(parts)
  return known.get(written) ?? remember(written, makeCanonical(parts))
}

/** Most programs use few keys, each of them often, and to check and hash one takes a while. */
const known = new Map<string, CanonicalKey>()
const maxKnown = 1000

function remember(written: string, canonical: CanonicalKey): CanonicalKey {
  if (known.size >= maxKnown) known.clear()
  known.set(written, canonical)
  return canonical
}

/** The parts as the caller has written them: two that differ only in that are kept twice, and are equal. */
function asWritten(parts: readonly unknown[]): string {
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') text += `s${part.length}:${part}`
    else if (typeof part === 'number') text += `n${part}`
    else if (typeof part === 'bigint') text += `b${part}`
    else return '' // no key at all, as the check will say
  }
  return text
}

function makeCanonical(parts: readonly unknown[]): CanonicalKey {
  if (parts.length === 0) throw new LockUsageError('key', 'a key needs at least one part')
  const text = [scheme, ...parts.map(encodePart)].join('|')
  const bytes = Buffer.byteLength(text)
  if (bytes > maxKeyBytes) {
    throw new LockUsageError(
      'key',
      `${bytes} bytes are too long for a key (at most ${maxKeyBytes}); hash the long part`,
    )
  }
  const digest = hash('sha256', text, 'buffer')
  return {
    text,
    int64: digest.readBigInt64BE(0),
    name: `hf:${readableStart(parts)}:${base32(digest.subarray(0, 20))}`,
  }
}

function encodePart(part: unknown, index: number): string {
  const field = `key[${index}]`
  if (typeof part === 'string') {
    if (part === '')
      throw new LockUsageError(field, 'is empty; an empty part is most often an id that was never set')
    if (!part.isWellFormed())
      throw new LockUsageError(field, 'holds half of a surrogate pair, which has no UTF-8 form')
    const normal = part.normalize('NFC')
    return `s${Buffer.byteLength(normal)}:${normal}`
  }
  if (typeof part === 'bigint') return encodeInteger(part)
  if (typeof part !== 'number') {
    throw new LockUsageError(
      field,
      `is ${part === null ? 'null' : typeof part}; a part is a string, a whole number or a bigint`,
    )
  }
  if (!Number.isSafeInteger(part)) {
    throw new LockUsageError(
      field,
      `${part} is not a whole number that JavaScript holds exactly; use a bigint or a string`,
    )
  }
  return encodeInteger(BigInt(part))
}

function encodeInteger(value: bigint): string {
  const digits = value.toString()
  return `i${digits.length}:${digits}`
}

/** For people who read the engine's lock list. The hash alone identifies the lock. */
function readableStart(parts: readonly unknown[]): string {
  return parts
    .map(String)
    .join('.')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '_')
    .slice(0, 28)
}

const alphabet = Buffer.from('abcdefghijklmnopqrstuvwxyz234567')

/**
 * RFC 4648 in lower case: lock names ignore case on MySQL, so only one case may carry meaning. Through bytes: a text
 * that is put together letter by letter stays a chain of its letters for as long as it is kept.
 */
function base32(bytes: Uint8Array): string {
  const letters = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / 5))
  let [at, carry, bits] = [0, 0, 0]
  for (const byte of bytes) {
    carry = (carry << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) letters[at++] = alphabet[(carry >> (bits - 5)) & 31] ?? 0
    carry &= (1 << bits) - 1
  }
  return letters.toString('latin1')
}
