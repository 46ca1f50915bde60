import { libraryOf } from '../../adapters/libraries.ts'
import type { Gate } from '../gate.ts'
import type { Seam } from '../seam.ts'
import type { Answer } from '../seen.ts'
import { promised } from './promised.ts'
import { replaced } from './replaced.ts'

/** What the driver makes of a call. */
interface Operation {
  readonly commandName: string
  readonly ns?: { readonly collection?: string }
  readonly filter?: unknown
  readonly statements?: unknown
  readonly documents?: unknown
  readonly pipeline?: unknown
  readonly session?: Transacting
}

/** A session of the driver's. */
interface Transacting {
  inTransaction(): boolean
  abortTransaction(): Promise<unknown>
}

interface Server {
  command(operation: Operation, ...rest: unknown[]): Promise<unknown>
}

interface Topology {
  selectServer(...args: unknown[]): Promise<Server>
}

interface Client {
  readonly topology?: Topology
  connect(): Promise<unknown>
}

/** A client of `mongodb`. */
export const mongodb: Seam = {
  driver: 'mongodb',
  is: (db) => libraryOf(db)?.entry === 'mongodb' && 'connect' in db,
  notes: [
    'MongoDB does not show who waits: a command without an answer for patienceMs is taken to wait. Inside of transactions ' +
      'nobody waits, so this matters only for writes outside of one',
  ],
  install: (db, gate) => install(db as Client, gate),
  end: async (connection) => {
    // a command that has no answer cannot be taken back; a transaction can
    if ('abortTransaction' in connection) await (connection as Transacting).abortTransaction().catch(() => {})
  },
}

async function install(client: Client, gate: Gate): Promise<() => void> {
  await client.connect()
  const { topology } = client
  if (topology === undefined) throw new TypeError('the client of mongodb has no topology')
  const putBack: (() => void)[] = []
  const known = new WeakSet<Server>()
  const watch = (server: Server): Server => {
    if (!known.has(server)) {
      known.add(server)
      putBack.push(replaced(server, 'command', (original) => held(server, original, gate)))
    }
    return server
  }
  putBack.push(
    replaced(
      topology,
      'selectServer',
      (original) =>
        async (...args) =>
          watch(await original.apply(topology, args)),
    ),
  )
  return () => putBack.forEach((put) => put())
}

function held(server: Server, original: Server['command'], gate: Gate): Server['command'] {
  return async (operation, ...rest) => {
    const actor = gate.current
    if (actor === undefined) return original.call(server, operation, ...rest)
    const { session } = operation
    if (session?.inTransaction() === true && !gate.isHolding(session)) {
      gate.lend(session, actor, { isOpen: () => session.inTransaction() })
      gate.giveBack(session) // nobody takes sessions from a pool: only what is open on it matters
    }
    const place = {}
    gate.lend(place, actor)
    try {
      return await promised(gate, place, {
        text: textOf(operation),
        send: () => original.call(server, operation, ...rest),
        answerOf,
      })
    } finally {
      gate.giveBack(place)
    }
  }
}

function textOf({ commandName, ns, filter, statements, documents, pipeline }: Operation): string {
  const what = [filter, statements, documents, pipeline].find((one) => one !== undefined)
  const words = what === undefined ? '' : shown(what)
  return [commandName, ns?.collection, words].filter(Boolean).join(' ')
}

function shown(value: unknown): string {
  try {
    const text = JSON.stringify(value)
    return text.length > 120 ? `${text.slice(0, 120)}…` : text
  } catch {
    return ''
  }
}

/** How many documents a write has met. What was read stands in a form that only the driver reads. */
function answerOf(answer: unknown): Answer {
  const { n } = (answer ?? {}) as { readonly n?: unknown }
  return typeof n === 'number' ? { count: n } : {}
}
