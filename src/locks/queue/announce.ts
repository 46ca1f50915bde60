import { callQueue, type ClaimVisit } from './claim-call.ts'
import { inTransaction, type ClaimPort } from './claim.ts'
import type { JobOptions } from './job.ts'
import type { AskServer } from '../port.ts'
import type { Queue } from './queue-definition.ts'
import { partOf } from '../transaction/part.ts'
import { textOfTable } from './warn.ts'

/** Tells of new jobs: everybody where the engine can, the workers of these locks anyway. */
export async function announce<Tx>(
  claims: ClaimPort<Tx>,
  queue: Queue<object>,
  { tx }: JobOptions,
): Promise<void> {
  const send = async ({ session, claiming }: ClaimVisit): Promise<void> => {
    const statement = claiming.announce?.(queue.shape)
    if (statement !== undefined) await session.run(statement)
  }
  const wakeOwn = (): void => {
    for (const wake of claims.wakers.get(textOfTable(queue.shape.table)) ?? []) wake()
  }
  if (tx !== undefined) {
    const open = claims.find(tx as Tx)
    return partOf(open, async () => {
      ;(open.onStored ??= []).push(wakeOwn)
      await inTransaction(open, send)
    })
  }
  // where the engine tells nobody, nothing is sent: a caller in a transaction of its own would wait for its end
  if (await isHeard(claims.port.server)) await callQueue(claims.port, { queue, work: send })
  wakeOwn()
}

async function isHeard({ candidates }: AskServer): Promise<boolean> {
  for (const { claim } of candidates ?? [])
    if (await claim(async ({ announce: tell }) => tell !== undefined)) return true
  return candidates === undefined
}

/** Lets a worker be woken by those who share its locks. Gives what ends that. */
export function joinWorkers(
  { wakers }: Pick<ClaimPort<never>, 'wakers'>,
  { shape }: Queue<object>,
  wake: () => void,
): () => void {
  const table = textOfTable(shape.table)
  const workers = wakers.get(table) ?? new Set()
  wakers.set(table, workers.add(wake))
  return () => {
    workers.delete(wake)
    if (workers.size === 0) wakers.delete(table)
  }
}
