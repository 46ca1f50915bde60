import { categories, type Category } from './core/category.ts'
import { UnsupportedLockError } from './core/errors.ts'
import { sampleRequest } from './core/sample-request.ts'
import { unsupported, type Support } from './core/support.ts'
import { emit, resolveServer, type ServerKind } from './emit.ts'
import { registry, type DialectName } from './registry.ts'

/** What one dialect makes of one category. */
export interface SupportCell {
  readonly dialect: string
  readonly version: string
  readonly category: Category
  readonly support: Support
}

/**
 * Every dialect times every category, from the emitters themselves: the table cannot say what the code does not do.
 *
 * Each dialect is shown at the version that is assumed for it; name servers to see others.
 */
export function supportMatrix(
  servers: readonly ServerKind[] = Object.keys(registry) as DialectName[],
): readonly SupportCell[] {
  return servers.flatMap((server) => {
    const { dialect, version } = resolveServer(server)
    return categories.map((category) => ({
      dialect: dialect.name,
      version: version.join('.'),
      category,
      support: supportOf(server, category),
    }))
  })
}

function supportOf(server: ServerKind, category: Category): Support {
  try {
    return emit(server, category, sampleRequest[category]).support
  } catch (error) {
    if (error instanceof UnsupportedLockError) return unsupported(error.reason, error.instead)
    throw error
  }
}
