import { setTimeout as pause } from 'node:timers/promises'

import { LockTimeoutError } from '../../core/errors.ts'
import type { Target } from '../../core/request.ts'
import type { Row } from '../../core/statement.ts'
import type { LockedRows, RowOptions } from '../../locks/rows/rows.ts'
import type { Client, Sabotage } from '../subject.ts'

type LockRows = (tx: object, target: Target, options?: RowOptions) => Promise<LockedRows<Row>>

/** A client whose call for row locks is another one. */
function withRows(change: (rows: LockRows) => LockRows): NonNullable<Sabotage['client']> {
  return (client: Client) => {
    const rows = change(client.locks.rows) as Client['locks']['rows']
    return { ...client, locks: { ...client.locks, rows } }
  }
}

const valuesOf = ({ key }: Target): readonly unknown[] => Object.values(key).flat()
const keyedBy = ({ table, key }: Target, values: readonly number[]): Target => ({
  table,
  key: Object.fromEntries(Object.keys(key).map((column) => [column, values])),
})

export const locksEveryRow: Sabotage = {
  does: 'locks every row of the table',
  client: withRows((rows) => async (tx, target, options) => {
    await rows(tx, keyedBy(target, [1, 2, 3, 4, 5, 6, 7, 8, 9]), options)
    return rows(tx, target, options)
  }),
}

export const locksAsAsked: Sabotage = {
  does: 'locks rows one after another, in the order in which they were named',
  client: withRows((rows) => async (tx, target, options) => {
    const locked: LockedRows<Row>[] = []
    for (const value of valuesOf(target)) {
      locked.push(await rows(tx, keyedBy(target, [Number(value)]), options))
    }
    const [first] = locked
    if (first === undefined) return rows(tx, target, options)
    return Object.assign(locked.flat(), { receipt: first.receipt })
  }),
}

export const keepsSilent: Sabotage = {
  does: 'gives no rows where it should say that it cannot lock them',
  client: withRows((rows) => async (tx, target, options) => {
    try {
      return await rows(tx, target, options)
    } catch {
      return [] as unknown as LockedRows<Row>
    }
  }),
}

export const boasts: Sabotage = {
  does: 'gives receipts for native locks on single rows, whatever it has taken',
  client: withRows((rows) => async (tx, target, options) => {
    const locked = await rows(tx, target, options)
    const { asked } = locked.receipt
    const support = { level: 'native', granularity: 'row' } as const
    const receipt = { ...locked.receipt, granted: asked, granularity: support.granularity, support }
    return Object.assign([...locked], { receipt: { ...receipt, scope: 'session' as const } })
  }),
}

/** What a driver's own timeout does: the caller goes on, the server's wait does too. */
export const stopsListening: Sabotage = {
  does: 'ends a wait by not listening any more, and leaves it on the server',
  client: withRows((rows) => async (tx, target, { wait, ...options } = {}) => {
    if (typeof wait !== 'object') return rows(tx, target, { ...options, ...(wait && { wait }) })
    const waiting = rows(tx, target, options)
    waiting.catch(() => {}) // nobody listens any more
    const late = pause(wait.timeoutMs).then(() => {
      throw new LockTimeoutError(`the rows: not heard of for ${wait.timeoutMs} ms`)
    })
    return Promise.race([waiting, late])
  }),
}

export const forgetsToRollBack: Sabotage = {
  does: 'gives connections back without rolling back',
  session: (session) => Object.create(session, { rollback: { value: async () => {} } }) as typeof session,
}
