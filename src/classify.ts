import type { Classification } from './core/classification.ts'
import { classifyAmong, classifyFor } from './core/classify.ts'
import type { Dialect } from './dialects/dialect.ts'
import { registry, type DialectName } from './registry.ts'

/** What is known about where an error comes from. */
export interface ClassifyOptions {
  /**
   * The dialect whose connection gave the error: less evidence is enough to know the error then.
   *
   * Without it an error of a driver for MySQL's protocol is reported as `mysql`, also when the server is a MariaDB.
   *
   * @default the one that the error itself points to
   */
  readonly dialect?: DialectName | Dialect
}

/**
 * Says what a thrown value means, whichever database, driver or query library it comes from.
 *
 * Looks through wrappers to the driver's own error and reads its code. Never throws: what it does not know is `other`.
 */
export function classifyError(error: unknown, options: ClassifyOptions = {}): Classification {
  const { dialect } = options
  if (typeof dialect === 'object') return classifyFor(error, dialect)
  if (dialect !== undefined && Object.hasOwn(registry, dialect)) return classifyFor(error, registry[dialect])
  return classifyAmong(error, Object.values(registry))
}
