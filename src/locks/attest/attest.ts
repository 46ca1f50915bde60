import { randomUUID } from 'node:crypto'
import { worstFirst, type Attestation, type AttestOptions, type Finding } from '../../core/attestation.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { DialectTools } from '../../dialects/tools.ts'
import { NoConnectionError, openSession } from '../open-session.ts'
import type { Port, Server } from '../port.ts'
import { sessionEnd } from '../session-end.ts'
import { mustNotWaitForItself } from '../transaction/scope.ts'
import { checkAttest, type CheckedAttest } from './attest-options.ts'
import { tryAll } from './capabilities.ts'
import { examineQueues, examineServer } from './examine.ts'
import { twoApplications, type AttestPort } from './ground.ts'
import { wordsOf } from './verdict.ts'

export type { AttestPort, TrialLocks } from './ground.ts'

/** How long the first connection is waited for: it may be a long way to the server. */
const reachWithinMs = 15_000
/** How long a second one is waited for. A pool whose connections are all lent says nothing. */
const openWithinMs = 1500

/**
 * What a server, reached as it is reached, really does.
 *
 * Tries each lock with two applications that meet only in the server: on names that were chosen by chance, and on a row
 * of the table of leases that is removed afterwards. Rejects only when the caller aborts, or the connection is lost.
 */
export async function attest<Tx>(parts: AttestPort<Tx>, options: AttestOptions = {}): Promise<Attestation> {
  const { queues, signal } = checkAttest(options)
  mustNotWaitForItself(parts.port.sessions.lane?.())
  const began = performance.now()
  const { server, tools, findings, obstacle } = await look(parts.port, { queues, signal })
  const ground = {
    port: parts.port,
    server,
    tools,
    ...twoApplications(parts, server),
    id: randomUUID(),
    signal,
  }
  const trials = await tryAll(ground, obstacle)
  return {
    dialect: server.dialect.name,
    version: server.version.join('.'),
    capabilities: trials.capabilities,
    findings: worstFirst([...findings, ...trials.findings]),
    tookMs: Math.round(performance.now() - began),
  }
}

interface Look {
  readonly server: Server
  readonly tools: DialectTools
  readonly findings: readonly Finding[]
  /** Why nothing can be tried: there is no second connection. */
  readonly obstacle: string | undefined
}

/** All that one connection can tell. */
async function look<Tx>(port: Port<Tx>, { queues, signal }: CheckedAttest): Promise<Look> {
  const session = await openSession(port, { signal, patienceMs: reachWithinMs, purpose: 'to attest' })
  const ending = sessionEnd(session)
  try {
    const server = await port.server(session)
    const tools = await toolsOf(server)
    const examined = { session, server, examination: tools.examination }
    const findings = [...(await examineServer(examined)), ...(await examineQueues(examined, queues))]
    return { server, tools, findings, obstacle: await secondConnection(port, signal) }
  } catch (error) {
    ending.doubt(error)
    throw error
  } finally {
    await ending.end()
  }
}

async function toolsOf({ dialect }: Server): Promise<DialectTools> {
  const tools = await dialect.tools?.()
  if (tools !== undefined) return tools
  throw new LockUsageError('dialect', `${dialect.title} has no tools, so it cannot be attested`)
}

/** Why there is none; undefined when there is one. */
async function secondConnection<Tx>(
  port: Port<Tx>,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (port.sessions.isOneConnection === true) return `${wanted} the client has one`
  try {
    const purpose = 'beside the first'
    const session = await openSession(port, { signal, patienceMs: openWithinMs, purpose })
    await sessionEnd(session).end()
    return undefined
  } catch (error) {
    signal?.throwIfAborted()
    const why = error instanceof NoConnectionError ? `none came in ${openWithinMs} ms` : wordsOf(error)
    return `${wanted} ${why}`
  }
}

const wanted = 'a second connection is needed, and'
