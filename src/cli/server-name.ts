import { LockUsageError } from '../core/errors.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { resolveServer } from '../emit.ts'
import { registry, type DialectName } from '../registry.ts'
import { CliUsageError } from './command.ts'

/** A server that exists only as a name on the command line: `<dialect>` or `<dialect>@<version>`. */
export interface NamedServer {
  readonly dialect: Dialect
  /** As it was written; the version that is assumed when none was. */
  readonly version: string
}

/** Reads `<dialect>[@<version>]`. */
export function readServer(text: string): NamedServer {
  const [name = '', ...rest] = text.split('@')
  if (!isDialectName(name)) {
    throw new CliUsageError(
      `${JSON.stringify(text)} is not a dialect; use one of ${Object.keys(registry).join(', ')}`,
    )
  }
  const dialect = registry[name]
  const server = { dialect, version: rest.length === 0 ? dialect.versions.assumed : rest.join('@') }
  return asUsage(() => {
    resolveServer(server)
    return server
  })
}

/** Runs something, and blames the command line when it is not what the library can work with. */
export function asUsage<T>(ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    if (error instanceof LockUsageError) throw new CliUsageError(error.message, { cause: error })
    throw error
  }
}

/** One of the words that an option allows, the first when it was left out. */
export function oneOfWords<T extends string>(
  option: string,
  text: string | undefined,
  allowed: readonly [T, ...T[]],
): T {
  const found = allowed.find((word) => word === (text ?? allowed[0]))
  if (found !== undefined) return found
  throw new CliUsageError(`--${option}: ${JSON.stringify(text)} is not one of ${allowed.join(', ')}`)
}

function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(registry, name)
}
