import { classifyFor } from '../core/classify.ts'
import { sampleRequest } from '../core/sample-request.ts'
import { UnsupportedLockError } from '../core/errors.ts'
import type { Plan } from '../core/plan.ts'
import type { Session } from '../core/session.ts'
import type { Row, Statement } from '../core/statement.ts'
import { emit } from '../emit.ts'
import { identify } from '../locks/identify.ts'
import { supportMatrix } from '../matrix.ts'
import { ownTables } from '../dialects/own-tables.ts'
import { findDialect } from '../registry.ts'
import { openClient, type KnownServer } from './client.ts'
import type { Facts } from './facts.ts'
import type { Client, Subject } from './subject.ts'

/** A subject that has answered: what it is, and somebody who looks on. */
export interface Ground {
  readonly subject: Subject
  readonly server: KnownServer
  readonly facts: Facts
  readonly observer: Client
  /** Runs a statement on a connection of the observer, outside of any transaction. */
  readonly command: (statement: Statement) => Promise<readonly Row[]>
  readonly close: () => Promise<void>
}

/** Asks a subject what it is, and keeps a pool from which the laws are looked at. */
export async function openGround(subject: Subject): Promise<Ground> {
  const server = await ask(subject)
  const observer = await openClient(subject, { size: 2, server })
  const command = (statement: Statement): Promise<readonly Row[]> =>
    onSession(observer, (session) => session.run(statement))
  // what would be made on demand is made now, so that no law pays for it
  for (const statement of await ownTables(server.dialect)) {
    await command(statement)
  }
  return { subject, server, facts: factsOf(server), observer, command, close: observer.close }
}

/** Lends a connection of a client's pool. */
export async function onSession<T>(
  { sessions }: Pick<Client, 'sessions'>,
  work: (session: Session<object>) => Promise<T>,
): Promise<T> {
  const session = await sessions.open()
  try {
    return await work(session)
  } finally {
    await session.release()
  }
}

/** Reads once more when the first connection is gone: a pooler may lend one that a law has just ended. */
export async function readAgain<T>({ server }: Ground, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (classifyFor(error, server.dialect).kind !== 'connection-lost') throw error
    return read()
  }
}

async function ask({ connect, dialects }: Subject): Promise<KnownServer> {
  const connected = await connect(1)
  try {
    const server = identify({ dialects: dialects.map(findDialect), version: undefined })
    const { dialect, version } = await onSession(connected, async (session) => server(session))
    const tools = await dialect.tools?.()
    if (tools === undefined) throw new TypeError(`${dialect.title} has no tools for proving its locks`)
    return { dialect, version: version.join('.'), tools }
  } finally {
    await connected.close()
  }
}

function factsOf(server: KnownServer): Facts {
  const cells = supportMatrix([server])
  const { self, kill } = server.tools.inspector
  return {
    ...server,
    plan: (category, request) =>
      planOf(() => emit(server, category, { ...sampleRequest[category], ...request })),
    support: (category) => {
      const cell = cells.find((one) => one.category === category)
      if (cell === undefined) throw new TypeError(`${category} is not a category`)
      return cell.support
    },
    canKill: self !== undefined && kill !== undefined,
  }
}

function planOf(make: () => Plan): Plan | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof UnsupportedLockError) return undefined
    throw error
  }
}
