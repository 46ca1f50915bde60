import { LockUsageError } from '../../core/errors.ts'
import type { LockMode, Wait } from '../../core/request.ts'
import { labelOf } from '../refused.ts'
import { heldAround } from '../transaction/scope.ts'
import type { NamedKey } from './named-key.ts'

/**
 * Refuses what other `locks` on the same pool hold in this chain of calls, where nothing limits the wait: the server would
 * wait for the caller itself.
 */
export function mustNotBeHeldAround(
  source: object | undefined,
  names: readonly Pick<NamedKey, 'id' | 'key'>[],
  { mode = 'exclusive', wait = 'block' }: { readonly mode?: LockMode; readonly wait?: Wait },
): void {
  if (wait !== 'block') return
  const held = names.filter(({ id }) => {
    const granted = heldAround(source, id)?.granted
    return granted !== undefined && (granted !== 'shared' || mode !== 'shared')
  })
  if (held.length > 0)
    throw alreadyHeld(held, ', by other locks on the same pool: make them once, and share them')
}

export function alreadyHeld(names: readonly Pick<NamedKey, 'key'>[], how = ''): LockUsageError {
  const label = labelOf('lock', ...names.map(({ key }) => key))
  return new LockUsageError('key', `this call chain already holds the ${label}${how}`)
}
