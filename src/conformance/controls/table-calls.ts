import type { TableName } from '../../core/request.ts'
import type { Client, Sabotage } from '../subject.ts'
import { withTablePlans } from './row-plans.ts'

/** Only for lists of names. */
export const locksTablesAsNamed: Sabotage = {
  does: 'locks tables one after another, in the order in which they were named',
  client: (client: Client) => {
    const { locks } = client
    const transaction: Client['locks']['transaction'] = (work, { tables, ...options } = {}) => {
      if (!Array.isArray(tables))
        return locks.transaction(work, { ...options, ...(tables !== undefined && { tables }) })
      return locks.transaction(async (tx) => {
        for (const table of tables as readonly TableName[]) await locks.table(tx, table)
        return work(tx)
      }, options)
    }
    return { ...client, locks: { ...locks, transaction } }
  },
}

/** Leaves on the connection what begins a transaction that locks tables. */
export const forgetsTables: Sabotage = {
  does: 'gives connections back without unlocking their tables',
  dialect: (dialect) => withTablePlans(dialect, { plan: (draft) => ({ ...draft, afterEnd: [] }) }),
}
