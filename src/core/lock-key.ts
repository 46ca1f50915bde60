/** One part of a key. Numbers are whole; `7` and `7n` are the same part, `'7'` is another. */
export type KeyPart = string | number | bigint

/**
 * The name of a lock: one part, or a tuple such as `['image-upload', userId]`.
 *
 * A {@link RawKey} is for sharing a lock with code that does not use Holdfast.
 */
export type LockKey = KeyPart | readonly KeyPart[] | RawKey

/** A key in an engine's own form, passed on as it is. */
export type RawKey =
  | { readonly raw: 'int64'; readonly value: bigint }
  | { readonly raw: 'int32-pair'; readonly values: readonly [number, number] }
  | { readonly raw: 'hashtext'; readonly text: string }
  | { readonly raw: 'name'; readonly name: string }
