import { waitingBy, type PlanDraft } from '../../src/core/plan.ts'
import type { CheckedRow } from '../../src/core/check-request.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import type { SessionSeen } from '../../src/core/inspection.ts'
import type { Target } from '../../src/core/request.ts'
import type { DocumentCommand, Row, Value } from '../../src/core/statement.ts'
import { native, stronger, unsupported, type Unsupported } from '../../src/core/support.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import type { DialectTools, Examination, Fixture, Inspector } from '../../src/dialects/tools.ts'
import { nameOf } from '../../src/testing/claim.ts'
import { command, type Condition } from '../../src/testing/command.ts'
import { memoryDialect } from '../../src/testing/dialect.ts'
import type { Memory } from '../../src/testing/memory.ts'

/** What only the laws ask of the memory: a look at it from outside. */
type Look = (from: Seat) => readonly Row[]

/** From where it is looked at. */
interface Seat {
  readonly memory: Memory
  readonly session: { readonly id: string }
  readonly place: string
  readonly places: ReadonlyMap<string, { readonly lose: () => void }>
}

function look(at: Look): DocumentCommand {
  return { command: { look: at } }
}

export function lookIn({ command: asked }: DocumentCommand): Look | undefined {
  return asked.look as Look | undefined
}

const inspector: Inspector = {
  questions: () => ({
    sessions: {
      ask: look(({ memory, session }) => [
        { seen: sessionsIn(memory).filter(({ id }) => id !== session.id) },
      ]),
      unknown: 'who holds what',
    },
    leases: {
      ask: look(({ memory }) => memory.leases.held().map((lease) => ({ ...lease }))),
      unknown: 'who has which lease',
    },
  }),
  read: ({ sessions = [], leases = [] }) => ({
    sessions: (sessions[0]?.seen ?? []) as readonly SessionSeen[],
    leases: leases.map(({ name, owner, leftMs }) => ({
      name: String(name),
      key: String(name).split(':')[1] ?? '',
      owner: String(owner),
      fence: 0,
      remainingMs: Number(leftMs),
    })),
  }),
  blindSpots: [],
  showsWaiting: true,
  self: look(({ place }) => [{ id: place }]),
  kill: (id) => look(({ places }) => (places.get(id)?.lose(), [])),
}

function sessionsIn({ connections, locks }: Memory): readonly SessionSeen[] {
  return [...connections].flatMap(({ id, isInTransaction }) => {
    const seen = ({ mode, name }: { mode: string; name: string }) => ({
      kind: 'name' as const,
      mode,
      on: name,
    })
    const holds = locks.granted().filter(({ by }) => by.id === id)
    const wait = locks.waiting().find(({ by }) => by.id === id)
    if (holds.length === 0 && wait === undefined && !isInTransaction) return []
    const waits = wait && { lock: seen(wait), blockedBy: locks.blockersOf(wait).map((owner) => owner.id) }
    return [
      { id, state: waits ? 'waiting' : 'idle', holds: holds.map(seen), ...(waits && { waits }) } as const,
    ]
  })
}

function where(key: Target['key']): readonly Condition[] {
  return Object.entries(key).map(([column, value]) => ({
    column,
    is: Array.isArray(value) ? value : [value as Value],
  }))
}

const fixture: Fixture = {
  create: () => command({ do: 'nothing' }),
  createQueue: () => command({ do: 'nothing' }),
  drop: (table) => look(({ memory }) => (memory.tables.drop(table), [])),
  insert: (table, row) => command({ do: 'insert', table, row, key: 'id' }),
  read: (table, id) => command({ do: 'find', table, where: where({ id }) }),
  all: (table) => command({ do: 'find', table, where: [], order: [{ column: 'id', direction: 'asc' }] }),
  write: (table, id, n) => command({ do: 'change', table, where: where({ id }), set: { n } }),
  delete: (table, id) => command({ do: 'change', table, where: where({ id }), remove: true }),
  add: (table, id, by) => command({ do: 'change', table, where: where({ id }), add: { n: by } }),
  target: (table, ids) => ({ table, key: { id: ids } }),
}

const nobody = (): never => {
  throw new Error('there is no server to examine')
}
const examination: Examination = {
  questions: nobody,
  read: nobody,
  indexes: nobody,
  leaseRow: { target: nobody, remove: (name) => look(({ memory }) => (memory.leases.forget(name), [])) },
}

/**
 * A row lock, which users do not have: their rows are not in the memory. The rows of the laws are, and the laws of retry
 * provoke deadlocks by them.
 */
function rowLock({ target, wait, mode, protectAbsence }: CheckedRow): PlanDraft | Unsupported {
  if (protectAbsence) return unsupported('only rows that are there are locked', 'an advisory lock')
  if (wait === 'skip') return unsupported('rows are read by their key', 'claim')
  if (target === undefined) throw new LockUsageError('target', 'there is no SQL: name table and key')
  const waitMs = wait === 'nowait' ? 0 : typeof wait === 'object' ? wait.timeoutMs : undefined
  const rows = {
    table: nameOf(target.table),
    where: where(target.key),
    order: [{ column: 'id', direction: 'asc' }],
  } as const
  return {
    support:
      mode === 'shared' ? stronger('row', 'rows know no sharing: the lock is exclusive') : native('row'),
    mode: 'exclusive',
    waiting: waitingBy('server', wait),
    query: {
      style: 'touch',
      touch: command({ do: 'change', ...rows, ...(waitMs !== undefined && { waitMs }) }),
      read: command({ do: 'find', ...rows }),
    },
  }
}

const tools: DialectTools = { inspector, examination, fixture, claimIndex: { index: () => [] } }

/** The dialect that users have, and what the laws need besides. */
export const lawDialect: Dialect = {
  ...memoryDialect,
  cells: {
    ...memoryDialect.cells,
    'row-exclusive': rowLock,
    'row-shared': rowLock,
    nowait: rowLock,
    'lock-timeout': rowLock,
  },
  tools: async () => tools,
}
