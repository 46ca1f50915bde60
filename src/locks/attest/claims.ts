import { categories, type Category } from '../../core/category.ts'
import { UnsupportedLockError } from '../../core/errors.ts'
import { native, unsupported, type Support } from '../../core/support.ts'
import { emit } from '../../emit.ts'
import { supportMatrix } from '../../matrix.ts'
import type { Server } from '../port.ts'

/** What is tried: the categories, the named lock that outlives a transaction, and the lease. */
export type Capability = Category | 'advisory-session' | 'lease'

/** In the order in which they are shown. */
export const shown: readonly Capability[] = [...categories, 'advisory-session', 'lease']

export type Claims = Readonly<Record<Capability, Support>>

/** What Holdfast claims for a server of this dialect and version. */
export function claimsOf({ dialect, version }: Server): Claims {
  const server = { dialect, version: version.join('.') }
  const cells = supportMatrix([server]).map(({ category, support }) => [category, support] as const)
  return {
    ...(Object.fromEntries(cells) as Record<Category, Support>),
    'advisory-session': sessionClaim(server),
    lease: native('name', "a row of the table _leases, which expires on the server's clock"),
  }
}

function sessionClaim(server: { readonly dialect: Server['dialect']; readonly version: string }): Support {
  const lease = { owner: 'holder', ttlMs: 1000 }
  try {
    return emit(server, 'advisory', { key: 'name', scope: 'session', lease }).support
  } catch (error) {
    if (error instanceof UnsupportedLockError) return unsupported(error.reason, error.instead)
    throw error
  }
}
