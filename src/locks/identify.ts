import { LockUsageError } from '../core/errors.ts'
import type { Session } from '../core/session.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { AskServer, Server } from './port.ts'

/** The dialects that a driver can reach, and what the caller has told of the server. */
export interface Candidates {
  readonly dialects: readonly Dialect[]
  readonly version: string | undefined
}

/** Says what the server is: as told, or as the server itself says when it is asked for the first time. */
export function identify({ dialects, version }: Candidates): AskServer {
  let known = told(dialects, version)
  const server = (session: Pick<Session, 'run'>): Server | Promise<Server> =>
    known ?? ask(dialects, session).then((found) => (known ??= found))
  const [only, ...others] = dialects
  return Object.assign(server, {
    candidates: dialects,
    dialect: () => known?.dialect.name ?? (others.length === 0 ? only?.name : undefined),
  })
}

function told([first, ...others]: readonly Dialect[], version: string | undefined): Server | undefined {
  if (first === undefined || others.length > 0 || version === undefined) return undefined
  return { dialect: first, version: first.readVersion(version) }
}

async function ask(dialects: readonly Dialect[], session: Pick<Session, 'run'>): Promise<Server> {
  for (const dialect of dialects) {
    const [row] = await session.run(dialect.identity.ask)
    const text = row && dialect.identity.version(row)
    if (text !== undefined) return { dialect, version: dialect.readVersion(text) }
  }
  const names = dialects.map(({ name }) => name).join(' or ')
  throw new LockUsageError(
    'dialect',
    `the server does not answer as ${names} does: name the dialect that it is, and its version`,
  )
}
