import { LockUsageError } from '../../core/errors.ts'
import { isSql } from '../../core/statement.ts'
import type { ClaimIndex } from '../../dialects/tools.ts'
import { callQueue, type ClaimVisit } from './claim-call.ts'
import type { Port } from '../port.ts'
import type { Queue } from './queue-definition.ts'

/** What a queue needs so that a claim does not read the jobs that are done. */
export interface IndexAdvice {
  /** The index as a statement (or a command) to run once; none where the engine would not use it. */
  readonly statements: readonly string[]
  /** What a claim reads in vain now, by the server's own plan; undefined when all is well, or nobody can tell. */
  readonly warning: string | undefined
}

export async function adviseIndexes<Tx>(port: Port<Tx>, queue: Queue<object>): Promise<IndexAdvice> {
  return callQueue(port, {
    queue,
    work: async (visit) => {
      const { index, scan } = await claimIndexOf(visit)
      const { shape } = queue
      const statements = index(shape, visit.version).map((statement) =>
        isSql(statement) ? statement.sql : JSON.stringify(statement.command),
      )
      const unique =
        shape.unique === undefined ? undefined : (await visit.dialect.enqueue?.())?.index?.(shape).create
      if (unique !== undefined) statements.push(unique)
      const problem = await scanProblem(visit, scan, queue)
      return { statements, warning: problem === undefined ? undefined : `a claim is slow: ${problem}` }
    },
  })
}

async function claimIndexOf({ dialect }: ClaimVisit): Promise<ClaimIndex> {
  if (dialect.tools === undefined)
    throw new LockUsageError('dialect', `${dialect.name} does not say which index a queue needs`)
  return (await dialect.tools()).claimIndex
}

async function scanProblem(
  { session }: ClaimVisit,
  scan: ClaimIndex['scan'],
  { shape }: Queue<object>,
): Promise<string | undefined> {
  if (scan === undefined) return undefined
  if (scan.head === undefined) return scan.problem(await session.run(scan.ask(shape)), shape)
  await session.begin({ head: scan.head })
  try {
    return scan.problem(await session.run(scan.ask(shape)), shape)
  } finally {
    await session.rollback()
  }
}
