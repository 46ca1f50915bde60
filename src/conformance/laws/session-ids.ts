import type { Session } from '../../core/session.ts'
import type { Stage } from '../stage.ts'
import type { Client } from '../subject.ts'

/** What the server calls `count` connections of a client's pool, all of them lent at once. */
export async function idsOf(stage: Stage, client: Client, count: number): Promise<readonly string[]> {
  const { self } = stage.facts.tools.inspector
  if (self === undefined) throw new TypeError('the connections of this engine have no names')
  const open: Session<object>[] = []
  try {
    for (let index = 0; index < count; index += 1) open.push(await client.sessions.open())
    return await Promise.all(open.map(async (session) => String((await session.run(self))[0]?.id)))
  } finally {
    await Promise.all(open.map((session) => session.release()))
  }
}
