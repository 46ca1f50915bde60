import { released } from '../../core/session.ts'
import type { Row, Statement } from '../../core/statement.ts'
import type { LeaseSession, LeaseSessions } from '../../locks/port.ts'
import { send, type Call, type RedisClient } from './client.ts'
import { explain, isUnknownScript } from './errors.ts'
import type { RedisCommand } from './lease.ts'
import { listenOn } from './listen.ts'
import { scripts } from './scripts.ts'

/** All share the client's one connection, which carries many commands at once and is the caller's to end. */
export function sessions(client: RedisClient, prefix: string): LeaseSessions {
  const warn = warnOnce()
  const session: LeaseSession = {
    run: async (statement) => {
      const rows = await run(client, statement, prefix)
      if (rows[0]?.policy === 'unknown') warn()
      return rows
    },
    release: () => released,
    destroy: () => released,
  }
  return { adapter: 'redis', open: async () => session, listen: listenOn(client) }
}

async function run(client: RedisClient, statement: Statement, prefix: string): Promise<readonly Row[]> {
  const { script, keys, args, columns, rowsOf } = (statement as RedisCommand).command
  const call: Omit<Call, 'by'> = { script: scripts[script], keys, args }
  try {
    const parts = partsOf(columns, await sendKnown(client, call))
    if (rowsOf === undefined) return [Object.fromEntries(parts)]
    return parts.map(([name, part]) => ({ name, [rowsOf]: part }))
  } catch (error) {
    throw explain(error, prefix)
  }
}

/** The text of a script travels once: afterwards the server knows it by its name, until it is restarted. */
async function sendKnown(client: RedisClient, call: Omit<Call, 'by'>): Promise<unknown> {
  try {
    return await send(client, { ...call, by: 'sha' })
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return send(client, { ...call, by: 'text' })
  }
}

/** A client can be set to give bytes for texts. */
function partsOf(columns: readonly string[], reply: unknown): readonly (readonly [string, unknown])[] {
  const parts: readonly unknown[] = Array.isArray(reply) ? reply.map((part) => asText(part)) : []
  const named = columns.map((column, index) => [column, parts[index]] as const)
  return named.filter(([, part]) => part !== '' && part !== undefined)
}

function asText(part: unknown): unknown {
  return Buffer.isBuffer(part) ? part.toString() : part
}

function warnOnce(): () => void {
  let isTold = false
  return () => {
    if (isTold) return
    isTold = true
    process.emitWarning(
      'this Redis does not say whether it may evict keys (INFO is not allowed): if its maxmemory-policy is one of ' +
        'allkeys, leases that are held can be forgotten',
      'HoldfastWarning',
    )
  }
}
