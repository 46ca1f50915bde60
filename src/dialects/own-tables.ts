import { reached } from '../core/on-demand.ts'
import type { Statement } from '../core/statement.ts'
import type { Dialect } from './dialect.ts'

/** Makes the tables or collections of ours that are else made on demand. Safe to run again. */
export async function ownTables({
  lease,
  once,
}: Pick<Dialect, 'lease' | 'once'>): Promise<readonly Statement[]> {
  return [...lease.schema, ...(await reached(once)).schema]
}
