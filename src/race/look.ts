import type { Gate } from './gate.ts'
import type { Observer } from './observer.ts'

/**
 * Looks at the server, and notes which of the running statements wait for a lock that another actor holds.
 *
 * A wait for anybody else is none of ours: it is waited for. Where the engine does not show who waits, only time tells.
 */
export function createLook(
  gate: Gate,
  observer: Observer | undefined,
  patienceMs: number,
): () => Promise<void> {
  return async () => {
    const { version } = gate
    const inspection = await observer?.look()
    const ours = new Set([...gate.loans.values()].map(({ id }) => id))
    for (const running of gate.actors.flatMap((actor) => [...actor.running])) {
      if (running.isStuck !== undefined) continue
      const waits = inspection?.sessions.find(({ id }) => id === running.id)?.waits
      if (waits !== undefined) running.blockedBy = waits.blockedBy
      const isWaiting =
        inspection === undefined
          ? performance.now() - running.sentAt > patienceMs
          : waits !== undefined && isFor(waits.blockedBy, ours)
      if (isWaiting) running.seenWaiting = version
    }
  }
}

/** Where the server does not tell for whom, it may be for one of them. */
function isFor(blockedBy: readonly string[], ours: ReadonlySet<string | undefined>): boolean {
  return blockedBy.length === 0 || blockedBy.some((id) => ours.has(id))
}

/** Who waits for whom, one sentence for each actor that has not ended. */
export function whoWaits(gate: Gate): readonly string[] {
  const names = new Map([...gate.loans.values()].map(({ id, actor }) => [id, actor.name]))
  return gate.actors.flatMap(({ name, running, pending, queueing, isDone }) => {
    if (isDone) return []
    const [first] = running
    if (first !== undefined) {
      const whom = first.blockedBy?.map((id) => names.get(id) ?? `session ${id}, which is no actor's`)
      const waits =
        whom === undefined || whom.length === 0 ? 'has no answer to' : `waits for ${whom.join(' and ')} with`
      return [`${name} ${waits} ${first.text}`]
    }
    if (pending[0] !== undefined) return [`${name} is about to send ${pending[0].text}`]
    if (queueing.size > 0) return [`${name} waits for a connection of the pool`]
    return [`${name} sends nothing and does not end: it waits for something other than db, or for ever`]
  })
}
