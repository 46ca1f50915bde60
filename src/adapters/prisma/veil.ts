import { LockError } from '../../core/errors.ts'

/** An error of ours on its way through Prisma, which puts one of its own in place of everything that has a code. */
export class Veiled extends Error {
  override readonly cause: LockError

  constructor(cause: LockError) {
    super(cause.message)
    this.cause = cause
  }
}

/**
 * Throws what Prisma is to be told of an error, as a driver adapter does. `convert` is the adapter's own way: what it
 * makes of the driver's error lacks the most of it, so the error itself is put where every other wrapper keeps it.
 */
export function tellPrisma(error: unknown, convert: (error: unknown) => never): never {
  if (error instanceof LockError) throw new Veiled(error)
  try {
    convert(error)
  } catch (converted) {
    const { cause } = converted as { readonly cause?: unknown }
    if (typeof cause === 'object' && cause !== null && !('cause' in cause))
      Object.defineProperty(cause, 'cause', { value: error })
    throw converted
  }
}

/** What comes out of Prisma again. */
export function unveiled<T>(operation: Promise<T>): Promise<T> {
  return operation.catch((error: unknown) => {
    throw error instanceof Veiled ? error.cause : error
  })
}
