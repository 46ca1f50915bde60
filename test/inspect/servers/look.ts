import type { LeaseSeen, LockSeen, SessionSeen } from '../../../src/core/inspection.ts'
import type { Row, Statement } from '../../../src/core/statement.ts'
import type { DialectTools } from '../../../src/dialects/tools.ts'
import { registry } from '../../../src/registry.ts'
import type { EngineSession } from '../../engines/engine.ts'
import { until } from '../../engines/use.ts'

export type ServerName = 'postgres' | 'mysql' | 'mariadb'

/** What one session sees of the others. */
export interface Sight {
  readonly sessions: readonly SessionSeen[]
  readonly leases: readonly LeaseSeen[]
  readonly unseen: readonly string[]
}

export interface Looker {
  readonly tools: DialectTools
  readonly look: (scope?: 'database' | 'server') => Promise<Sight>
  /** Looks until the condition holds; gives what was then seen. */
  readonly lookUntil: (condition: (sight: Sight) => boolean, what: string) => Promise<Sight>
}

export interface LookOptions {
  /** Instead of the server's own: how an older one would be asked. */
  readonly version?: string
  /** Questions that are taken as refused. */
  readonly refused?: readonly string[]
}

export async function lookerOn(
  session: EngineSession,
  { name, version }: { readonly name: ServerName; readonly version: string },
  options: LookOptions = {},
): Promise<Looker> {
  const dialect = registry[name]
  const tools = await dialect.tools()
  const asked = dialect.readVersion(options.version ?? version)
  const look = async (scope: 'database' | 'server' = 'database'): Promise<Sight> => {
    const replies: Record<string, readonly Row[] | undefined> = {}
    const refused: string[] = []
    for (const [title, question] of Object.entries(tools.inspector.questions(scope, asked))) {
      const isIdle = question.onlyIf !== undefined && replies[question.onlyIf]?.length === 0
      const ask = options.refused?.includes(title) === true ? undefined : question.ask
      replies[title] = isIdle ? [] : ask && (await answered(session, ask))
      if (replies[title] === undefined) refused.push(question.unknown)
    }
    const { unseen = [], ...sight } = tools.inspector.read(replies)
    return { ...sight, unseen: [...refused, ...unseen] }
  }
  const lookUntil: Looker['lookUntil'] = async (condition, what) => {
    let sight = await look()
    await until(async () => condition((sight = await look())), what).catch((error: unknown) => {
      throw new Error(`${String(error)}; seen at last: ${JSON.stringify(sight)}`)
    })
    return sight
  }
  return { tools, look, lookUntil }
}

async function answered(session: EngineSession, statement: Statement): Promise<readonly Row[] | undefined> {
  try {
    return await session.run(statement)
  } catch {
    return undefined
  }
}

export function sessionIn(sight: Sight, { id }: { readonly id: string }): SessionSeen | undefined {
  return sight.sessions.find((session) => session.id === id)
}

export function isSeenWaiting(sight: Sight, session: { readonly id: string }): boolean {
  return sessionIn(sight, session)?.waits !== undefined
}

export function holdsOf(sight: Sight, session: { readonly id: string }): readonly LockSeen[] {
  return sessionIn(sight, session)?.holds ?? []
}
