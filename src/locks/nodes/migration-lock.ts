import { checkObject, checkWork } from '../../core/check-field.ts'
import type { LockKey } from '../../core/key.ts'
import type { Acquire, AcquireOptions } from '../named/acquire.ts'
import type { Held } from '../session-lock/hold.ts'

/** How the lock around migrations is taken. */
export interface MigrationOptions extends Pick<AcquireOptions, 'wait' | 'signal' | 'ttlMs'> {
  /** The name of the lock: give each schema its own. @default ['holdfast', 'migrations'] */
  readonly name?: LockKey
}

/**
 * Runs the migrations of one database one at a time, however many nodes start at once.
 *
 * The lock is outside of any transaction, since many databases commit at each change of a table. Whoever comes second
 * runs its own afterwards, and finds them done.
 */
export async function runMigration<T>(
  acquire: Acquire,
  work: (held: Held) => Promise<T>,
  given: MigrationOptions = {},
): Promise<T> {
  checkWork(work, 'work', 'async () => { ... }')
  checkObject('options', given)
  const { name = ['holdfast', 'migrations'], ...options } = given
  const held = await acquire(name, options)
  try {
    return await work(held)
  } finally {
    await held[Symbol.asyncDispose]()
  }
}
