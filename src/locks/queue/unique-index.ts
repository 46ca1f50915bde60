import { LockUsageError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { EnqueueStatements, NewRows, UniqueIndex } from '../../dialects/enqueue.ts'
import { readFailure } from '../failure.ts'
import { callQueue, type ClaimVisit } from './claim-call.ts'
import type { ClaimPort } from './claim.ts'
import type { Queue } from './queue-definition.ts'
import { textOfTable } from './warn.ts'

interface Asked {
  readonly queue: Queue<object>
  readonly groups: readonly NewRows[]
  readonly isInTransaction?: boolean
}

/** Without its index two could store the same job, so nothing is stored. Asked once for each queue. */
export async function mustHaveIndex<Tx>(
  { port, indexed }: ClaimPort<Tx>,
  visit: ClaimVisit & { readonly statements: EnqueueStatements },
  { queue, groups, isInTransaction = false }: Asked,
): Promise<void> {
  const { shape } = queue
  if (indexed.has(shape) || groups.every(({ isUnique }) => !isUnique)) return
  const index = visit.statements.index?.(shape)
  if (index !== undefined) {
    const ask = ({ session, dialect }: ClaimVisit): Promise<boolean> => isThere(session, { index, dialect })
    const isFit =
      isInTransaction && index.isOutside === true
        ? await callQueue(port, { queue, work: ask })
        : await ask(visit)
    if (!isFit) throw missing(queue, index)
  }
  indexed.add(shape)
}

async function isThere(
  session: Session,
  { index, dialect }: { readonly index: UniqueIndex } & Pick<ClaimVisit, 'dialect'>,
): Promise<boolean> {
  try {
    return index.isThere(await session.run(index.ask))
  } catch (error) {
    if (readFailure(error, dialect).code === index.noTable) return false
    throw error
  }
}

export function missing({ shape }: Queue<object>, { create }: UniqueIndex): LockUsageError {
  return new LockUsageError(
    'claim.unique',
    `${textOfTable(shape.table)} has no unique index on ${shape.unique} alone, so two could store the same job; run: ${create}`,
  )
}
