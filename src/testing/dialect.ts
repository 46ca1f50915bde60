import type { CheckedAdvisory } from '../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../core/plan.ts'
import type { Answers } from '../core/statement.ts'
import { native, unsupported } from '../core/support.ts'
import { parseVersion } from '../core/version.ts'
import { countRows } from '../dialects/claim.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { leaseAnswers, type LeaseStatements } from '../dialects/lease.ts'
import { isWritten, type OnceStatements } from '../dialects/once.ts'
import type { OptimisticStatements } from '../dialects/optimistic.ts'
import { textOfKey } from '../locks/refused.ts'
import { claim, enqueue, nameOf } from './claim.ts'
import { command, type Condition, type Lock } from './command.ts'
import { errors } from './error.ts'
import { leaseTopic } from './leases.ts'
import { nameOfKey } from './name.ts'
import { lockTimeout } from './timeout.ts'

/** What the memory calls itself, in `dialect` of every error and receipt. */
export const memoryName = 'memory (not a database)'

const taken: Answers = { column: 'answer', meaning: { 1: 'granted', 0: 'busy' } }
const given: Answers = { column: 'answer', meaning: { 1: 'released', 0: 'not-held' } }

/** As PostgreSQL's: the server keeps the line, and there are shared ones. */
function advisory({ key, mode, scope: until, wait }: CheckedAdvisory): PlanDraft {
  const waitMs = wait === 'nowait' ? 0 : typeof wait === 'object' ? wait.timeoutMs : undefined
  const lock: Omit<Lock, 'do'> = { name: nameOfKey(key), label: textOfKey(key), mode, until }
  const take = command({ do: 'lock', ...lock, ...(waitMs !== undefined && { waitMs }) }, taken)
  const shared = { support: native('name'), mode, scope: until, waiting: waitingBy('server', wait) } as const
  return until === 'transaction'
    ? { ...shared, inTransaction: [take] }
    : { ...shared, beforeBegin: [take], afterEnd: [command({ do: 'unlock', ...lock }, given)] }
}

const lease: LeaseStatements = {
  schema: [],
  acquire: (asked) => [
    command({ do: 'lease', claim: asked }, { column: 'answer', meaning: { 1: 'granted', 0: 'busy' } }),
  ],
  renew: (held, ttlMs) => [command({ do: 'renew', held, ttlMs }, leaseAnswers.held)],
  release: (held, holdMs, news = held.name) => [
    command({ do: 'end-lease', held, holdMs, news }, leaseAnswers.released),
  ],
  look: (names) => command({ do: 'look', names }),
  guard: (held) => command({ do: 'guard', held }, leaseAnswers.held),
  admit: (name, fence) => [command({ do: 'admit', name, fence }, leaseAnswers.held)],
  topic: leaseTopic,
  tell: (text) => command({ do: 'tell', topic: leaseTopic, text }),
}

const once: OnceStatements = {
  schema: [],
  mark: (name) =>
    command({
      do: 'insert',
      table: '_once',
      row: { name },
      inMs: { made_at: 0 },
      key: 'name',
      unlessThere: true,
    }),
  isFirst: isWritten,
  refusals: {},
}

const optimistic: OptimisticStatements = {
  read: ({ table, key }) => command({ do: 'find', table: nameOf(table), where: where(key), limit: 2 }),
  change: ({ table, key, version }, { expected, set }) => ({
    statements: [
      command({
        do: 'change',
        table: nameOf(table),
        where: where({ ...key, [version]: expected }),
        set,
        add: { [version]: 1 },
      }),
    ],
    count: countRows,
  }),
}

function where(key: Parameters<OptimisticStatements['read']>[0]['key']): readonly Condition[] {
  return Object.entries(key).map(([column, value]) => ({ column, is: [value] }))
}

const noRows = unsupported(
  'there is no database behind holdfast/testing, so there are no rows and no SQL',
  'an advisory lock, or test this code on a real database: an SQLite file is enough',
)

/** The memory as a dialect: the algorithms that run on it are those that run on every database. */
export const memoryDialect: Dialect = {
  name: memoryName,
  title: memoryName,
  versions: { oldest: '1', assumed: '1' },
  readVersion: parseVersion,
  cells: {
    'row-exclusive': noRows,
    'row-shared': noRows,
    'skip-locked': noRows,
    nowait: noRows,
    'lock-timeout': noRows,
    advisory,
    table: noRows,
  },
  errors,
  claim: (use) => use(claim),
  enqueue: async () => enqueue,
  optimistic: (use) => use(optimistic),
  once: (use) => use(once),
  transaction: { lockTimeout },
  lease,
  named: {
    keptBy: 'connection',
    // as strict as the strictest database: above that level it goes on by what it read before
    canJoin: (isolation = 'read committed') => isolation.startsWith('read '),
  },
  identity: { ask: command({ do: 'nothing' }), version: ({ version }) => String(version) },
}
