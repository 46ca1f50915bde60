const origins = new WeakMap<WeakKey, WeakKey>()

/** Notes that an object of the application's is the same transaction as the `tx` it was made from. */
export function noteDerived(derived: WeakKey, origin: WeakKey): void {
  origins.set(derived, originOf(origin))
}

/** The `tx` that the work was given. */
export function originOf(tx: WeakKey): WeakKey {
  return origins.get(tx) ?? tx
}
