import type { OwnQuery } from './carry.ts'
import { statementNames, type StatementNames } from './names.ts'

/** What the connections of a pool keep prepared of the statements of batches. */
export interface Kept {
  readonly names: StatementNames
  /** The name for a text that comes again and again. One that was seen but once may never be sent again. */
  readonly nameOf: (text: string) => string | undefined
}

/** How many texts are remembered as seen once: who makes a new one each time fills no memory. */
const maxSeen = 1000

const ofPools = new WeakMap<object, Kept>()

export function keptBy(pool: object): Kept {
  const kept = ofPools.get(pool) ?? createKept(pool)
  ofPools.set(pool, kept)
  return kept
}

function createKept(pool: object): Kept {
  const names = statementNames(pool, 'batch')
  const seen = new Set<string>()
  return {
    names,
    nameOf: (text) => {
      if (seen.has(text)) return names.of(text)
      if (seen.size < maxSeen) seen.add(text)
      return undefined
    },
  }
}

/** What is known of the other end of a connection. */
export interface OtherEnd {
  /**
   * Whether that is the server itself. A pooler may hand each transaction to another server, which does not know the
   * names; and in a transaction a name that is not known costs the whole of it. Undefined until it has been asked.
   */
  isServer: boolean | undefined
  /** The names that it knows. */
  readonly known: Set<string>
}

const ofConnections = new WeakMap<object, OtherEnd>()

export function otherEndOf(connection: object): OtherEnd {
  const end = ofConnections.get(connection) ?? { isServer: undefined, known: new Set() }
  ofConnections.set(connection, end)
  return end
}

/** A pooler tells a number of its own at the log-in, with which it can be asked to cancel. */
export const askBackend = 'SELECT pg_backend_pid()'

/** How the statements of a transaction are kept prepared on its connection. */
export interface Keeping {
  readonly end: OtherEnd
  /** The connection's number, as the log-in told it. */
  readonly backend: string
  readonly kept: Kept
}

/** From then on the server is sent the name, and the text only where it does not know that. */
export function nameQueries(queries: readonly OwnQuery[], { end, kept }: Keeping): void {
  if (end.isServer !== true) return
  for (const query of queries) {
    const name = typeof query.text === 'string' ? kept.nameOf(query.text) : undefined
    if (name !== undefined) query.name = name
  }
}

/** The message `Close` for a statement. */
export function closeStatement(name: string): Uint8Array {
  const bytes = Buffer.alloc(1 + 4 + 1 + name.length + 1)
  bytes.write('C', 0, 'latin1')
  bytes.writeInt32BE(bytes.length - 1, 1)
  bytes.write(`S${name}`, 5, 'latin1')
  return bytes
}
