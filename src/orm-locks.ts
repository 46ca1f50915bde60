import { rewordedRead } from './adapters/orm/rewording.ts'
import { follow, wireOf } from './adapters/orm/wire.ts'
import type { Plan } from './core/plan.ts'
import type { Sessions } from './core/session.ts'
import type { Row, SqlStatement, Value } from './core/statement.ts'
import type { Dialect } from './dialects/dialect.ts'
import { meet, type LocksOptions, type RowOptionsOf, type SharedLocks, type TableLocks } from './locks.ts'
import { isTarget, lockingRead, type RowQuery } from './locks/rows/query.ts'
import type { LockedRows, LockingRead } from './locks/rows/rows.ts'
import type { DialectName } from './registry.ts'

/** A SELECT of an ORM's own, as it is about to be sent. */
export interface OrmSelect {
  readonly sql: string
  /** The same text without its values, where the ORM writes them into it: that one is looked at. @default `sql` */
  readonly shape?: string
  readonly params: readonly unknown[]
  readonly run: () => PromiseLike<readonly Row[]>
}

/** What is below an ORM, how its transactions are had, and what its queries are. */
export interface OrmWay {
  /** What events call it. */
  readonly adapter: string
  readonly dialects: readonly Dialect[]
  readonly sessions: Sessions<object>
  /** Gives undefined for what is not a query of the ORM's. Throws for one that cannot lock what it reads. */
  readonly selectOf: (query: unknown) => OrmSelect | undefined
}

/** Locks through an ORM, before its entry says which types its queries have. */
export interface OrmLocks<D extends DialectName> extends SharedLocks<object>, TableLocks<object, D> {
  readonly rows: (tx: object, query: unknown, options?: RowOptionsOf<D>) => Promise<LockedRows<Row>>
}

/** Where an ORM and the algorithms meet. */
export function joinOrm<D extends DialectName>(
  { adapter, dialects, sessions, selectOf }: OrmWay,
  options?: LocksOptions<D>,
): OrmLocks<D> {
  const { shared, lockRows, lockTable } = meet({ ...sessions, adapter }, dialects, options)
  return {
    ...shared,
    table: (tx, table, lock) => follow(tx, () => lockTable(tx, table, lock)),
    rows: async (tx, query, lock = {}) => {
      const readOf = (plan: Plan): LockingRead => {
        const select = selectOf(query)
        return select === undefined ? lockingRead(query as RowQuery, plan) : ormRead(tx, select, plan)
      }
      const target = isTarget(query) ? query : undefined
      return follow(tx, () => lockRows(tx, { target, options: lock, readOf }))
    },
  }
}

/** Sent by the ORM, which knows how to make its rows of what the driver gives. */
function ormRead(tx: object, { sql, shape = sql, params, run }: OrmSelect, plan: Plan): LockingRead {
  const { statement } = lockingRead({ sql: shape, params: params as readonly Value[] }, plan)
  const { sql: locking } = statement as SqlStatement
  // the lock is at the end
  const to = shape === sql ? locking : `${sql}${locking.slice(shape.length)}`
  return { statement: { ...statement, sql: to }, ...rewordedRead({ from: sql, to, wire: wireOf(tx) }, run) }
}
