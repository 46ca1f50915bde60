import { onlyKnown } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'

/** Finds an open transaction by its `tx`, and throws where there is none. */
interface Finder {
  readonly find: (tx: never) => unknown
}

/**
 * Checks the options of a call that can be a part of a transaction. A transaction in their place would be taken for
 * nothing asked at all: the job would have ended although the transaction was rolled back.
 */
export function endOptions<Options extends object>(
  { find }: Finder,
  options: Options | undefined,
  known: readonly string[] = ['tx'],
): Options | undefined {
  if (options === undefined) return undefined
  if (typeof options === 'function' || isTransaction(find, options))
    throw new LockUsageError('options', 'is a transaction: pass { tx } for what is to be a part of it')
  onlyKnown(options, known)
  return options
}

/** An object of a class has fields that nobody sees, so it may be one of another library or one that has ended. */
function isTransaction(find: Finder['find'], options: object): boolean {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false
  try {
    find(options as never)
    return true
  } catch {
    const kind: unknown = Object.getPrototypeOf(options)
    return kind !== null && Object.getPrototypeOf(kind) !== null
  }
}
