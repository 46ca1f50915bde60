import { onlyKnown, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'

/** What `createLocks` was told, with the fields that its entry has besides. A misspelt one would be ignored in silence. */
export function checkLocksOptions<O extends object>(options: O | undefined, ...own: readonly string[]): O {
  const told = options === undefined ? ({} as O) : options
  onlyKnown(told, ['dialect', 'version', ...own])
  const { version } = told as { readonly version?: unknown }
  if (version !== undefined && typeof version !== 'string')
    throw new LockUsageError('version', `${show(version)} is not a text, as in '16.4'`)
  return told
}
