import type { Actor } from './actor.ts'
import type { Gate } from './gate.ts'
import type { Loan } from './loan.ts'
import type { Observer } from './observer.ts'
import type { Seam } from './seam.ts'

interface Place {
  readonly gate: Gate
  readonly seam: Seam
  readonly observer: Observer | undefined
}

/** A connection that was asked for comes within this time, or the pool gives it to nobody. */
const comesWithinMs = 5000

/**
 * Ends the connections that the actors have not given back, or have given back in the middle of a transaction. One that is
 * on its way is waited for: it would come when nobody holds its statements back any longer.
 */
export async function clearUp(place: Place, ended: ReadonlySet<Actor>): Promise<readonly string[]> {
  const { gate } = place
  const left = [...gate.leavers].map(({ name }) => `${name} has ended and left a transaction open`)
  const seen = new Set<Loan>()
  const deadline = performance.now() + comesWithinMs
  for (;;) {
    left.push(...(await endLoans(place, ended, seen)))
    const isAwaited = gate.actors.some(({ queueing }) => queueing.size > 0)
    if (!isAwaited || performance.now() > deadline) return left
    await gate.change(lookAgainMs)
  }
}

const lookAgainMs = 15

async function endLoans(
  { gate, seam, observer }: Place,
  ended: ReadonlySet<Actor>,
  seen: Set<Loan>,
): Promise<readonly string[]> {
  const left: string[] = []
  for (const [connection, loan] of gate.loans) {
    const isOpen = loan.isOpen && (loan.isKnown || (await isInTransaction(observer, loan)))
    if (seen.has(loan) || (loan.isBack && !isOpen)) continue
    seen.add(loan)
    const what = isOpen ? 'left a transaction open' : 'did not give its connection back'
    if (ended.has(loan.actor)) left.push(`${loan.actor.name} has ended and ${what}`)
    const { id } = loan
    await seam.end(connection, async () => (id === undefined ? undefined : observer?.kill(id)))
  }
  return left
}

/** The texts of the statements say so; the server knows, where it can be asked. */
async function isInTransaction(observer: Observer | undefined, { id }: Loan): Promise<boolean> {
  const inspection = await observer?.look()
  if (inspection === undefined) return true
  return inspection.sessions.some((session) => session.id === id && session.state !== 'idle')
}
