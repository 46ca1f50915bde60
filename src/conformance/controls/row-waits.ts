import type { Wait } from '../../core/request.ts'
import type { SettingChange } from '../../core/plan.ts'
import type { RowCategory } from '../../core/check-request.ts'
import type { SqlStatement } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Sabotage } from '../subject.ts'
import { withRowPlans, withSettings, withTablePlans } from './row-plans.ts'

const asking = (dialect: Dialect, category: RowCategory, wait: Wait): Dialect =>
  withRowPlans(dialect, { ask: (request) => ({ ...request, wait }) }, [category])

/** Drops SKIP LOCKED and READPAST. */
export const waitsInPlaceOfSkipping: Sabotage = {
  does: 'waits for rows that it should skip',
  dialect: (dialect) => asking(dialect, 'skip-locked', 'block'),
}

/** Drops NOWAIT. */
export const waitsInPlaceOfRefusing: Sabotage = {
  does: 'waits for a lock although it was told not to',
  dialect: (dialect) =>
    withTablePlans(asking(dialect, 'nowait', 'block'), { ask: (request) => ({ ...request, wait: 'block' }) }),
}

export const refusesInPlaceOfWaiting: Sabotage = {
  does: 'refuses a held row at once although it was told to wait for some time',
  dialect: (dialect) => asking(dialect, 'lock-timeout', 'nowait'),
}

export const waitsForEver: Sabotage = {
  does: 'waits without a limit',
  dialect: (dialect) => {
    const { lockTimeout: _, ...transaction } = dialect.transaction
    return { ...asking(dialect, 'lock-timeout', 'block'), transaction }
  },
}

const nothing: SqlStatement = { sql: 'SELECT 1', params: [] }
const forTheSession = ({ sql, ...rest }: SqlStatement): SqlStatement => ({
  ...rest,
  sql: sql.replace('SET LOCAL', 'SET SESSION'),
})
const notPutBack = ({ apply, ...setting }: SettingChange): SettingChange => ({
  ...setting,
  apply: forTheSession(apply),
  restore: nothing,
})

export const leavesTimeouts: Sabotage = {
  does: 'leaves the time limit of a lock on the connection',
  dialect: (dialect) => withSettings(dialect, notPutBack, forTheSession),
}

/** SET LOCAL ends with the transaction, so nobody after it sees this one; the rest of the transaction does. */
export const keepsTimeouts: Sabotage = {
  does: 'keeps the time limit of one lock for those that follow in the transaction',
  dialect: (dialect) =>
    withSettings(
      dialect,
      ({ read: _, ...setting }) => ({ ...setting, restore: nothing }),
      (head) => head,
    ),
}
