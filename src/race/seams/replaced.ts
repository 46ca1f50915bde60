/** Puts another function in the place of a method. Gives what puts the object back as it was. */
export function replaced<T extends object, K extends keyof T>(
  object: T,
  name: K,
  make: (original: T[K]) => T[K],
): () => void {
  const before = Object.getOwnPropertyDescriptor(object, name)
  Object.defineProperty(object, name, {
    value: make(object[name]),
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? false,
  })
  return () => {
    if (before === undefined) Reflect.deleteProperty(object, name)
    else Object.defineProperty(object, name, before)
  }
}

/** A copy with what is hidden from those who list it, such as a password. */
export function copyOf<T extends object>(object: T): T {
  return Object.create(
    Object.getPrototypeOf(object) as object | null,
    Object.getOwnPropertyDescriptors(object),
  ) as T
}
