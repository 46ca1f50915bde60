import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import type { Inspector } from '../../dialects/tools.ts'
import type { AskServer } from '../../locks/port.ts'
import type { Ending, EndingWay } from './look.ts'
import { withSession } from './queue-looks.ts'

const calls: Readonly<Record<EndingWay, 'cancel' | 'kill'>> = { cancel: 'cancel', end: 'kill' }

/** How sessions can be ended on this database. */
export async function endingOf(sessions: Sessions, server: AskServer): Promise<Omit<Ending, 'isAllowed'>> {
  const { inspector, name } = await inspectorOf(sessions, server)
  const ways = (['cancel', 'end'] as const).filter((way) => inspector?.[calls[way]] !== undefined)
  if (ways.length > 0) return { ways }
  return {
    ways,
    reason: `${name} has no server that could end a session: end the program that holds the lock`,
  }
}

/**
 * Ends a session, or only what it runs. The dialect checks the id, and no other text reaches the server.
 *
 * False when the server says that there is no such session. Rejects with its error otherwise.
 */
export async function endSession(
  sessions: Sessions,
  server: AskServer,
  { id, way }: { readonly id: string; readonly way: EndingWay },
): Promise<boolean> {
  const { inspector, name } = await inspectorOf(sessions, server)
  const call = inspector?.[calls[way]]
  if (call === undefined)
    throw new LockUsageError(
      'way',
      `${name} cannot ${way === 'cancel' ? 'cancel a statement' : 'end a session'}`,
    )
  const statement = call(id)
  return withSession(sessions, async (session) => {
    const [row] = await session.run(statement)
    return row?.done !== false
  })
}

async function inspectorOf(
  sessions: Sessions,
  server: AskServer,
): Promise<{ readonly inspector: Inspector | undefined; readonly name: string }> {
  return withSession(sessions, async (session) => {
    const { dialect } = await server(session)
    return { inspector: (await dialect.tools?.())?.inspector, name: dialect.name }
  })
}
