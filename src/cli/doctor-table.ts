import type { OpenUrl } from '../connect/open.ts'
import { within } from '../connect/within.ts'
import type { Session } from '../core/session.ts'
import type { LeaseTable } from '../dialects/tools.ts'
import { identify } from '../locks/identify.ts'
import { findDialect } from '../registry.ts'

/** Others may use the table: they are not waited for any longer. */
const patienceMs = 2000

/**
 * Runs `work`, and then drops the table of leases, if it was not there before and nobody has put a row into it meanwhile.
 *
 * `tell` is told when it cannot be dropped.
 */
export async function leavingNoTable<T>(
  open: OpenUrl,
  work: () => Promise<T>,
  tell: (words: string) => void,
): Promise<T> {
  const missing = await onSession(open, (session) => missingTable(session, open)).catch(() => undefined)
  try {
    return await work()
  } finally {
    if (missing !== undefined) {
      const dropping = onSession(open, (session) => dropEmpty(session, missing))
      await within(patienceMs, dropping, () => new Error('it is in use')).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error)
        tell(`the table _leases was made, and could not be removed: ${why}`)
      })
    }
  }
}

/** How the table of leases is dropped; undefined where it is there, or where that cannot be done safely. */
async function missingTable(session: Session, { dialects }: OpenUrl): Promise<LeaseTable | undefined> {
  const server = await identify({ dialects: dialects.map(findDialect), version: undefined })(session)
  const { leaseTable, indexes } = (await server.dialect.tools?.())?.examination ?? {}
  if (leaseTable === undefined || indexes === undefined) return undefined
  return (await session.run(indexes('_leases'))).length === 0 ? leaseTable : undefined
}

/** Whoever takes a lease at the same moment is kept out until it is decided. */
async function dropEmpty(session: Session, table: LeaseTable): Promise<void> {
  const { begin, lock = [], anyRow, drop, unlock = [] } = table
  await session.begin(begin === undefined ? {} : { mode: begin })
  for (const statement of lock) await session.run(statement)
  const rows = await session.run(anyRow)
  if (rows.length === 0) await session.run(drop)
  await session.commit()
  for (const statement of unlock) await session.run(statement)
}

/** A session that failed is not given back. */
async function onSession<T>({ sessions }: OpenUrl, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await sessions.open()
  try {
    const done = await work(session)
    await session.release()
    return done
  } catch (error) {
    await session.destroy(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}
