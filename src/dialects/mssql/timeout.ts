import type { SettingChange } from '../../core/plan.ts'
import { sql } from '../sql.ts'

/**
 * `LOCK_TIMEOUT` for one statement; 0 is "do not wait", -1 the default "for ever".
 *
 * It stays on the connection until it is changed, and takes a literal only, so the old value is read first.
 *
 * @see https://learn.microsoft.com/sql/t-sql/statements/set-lock-timeout-transact-sql
 */
export function lockTimeout(ms: number): SettingChange {
  return {
    read: sql('SELECT @@LOCK_TIMEOUT AS saved'),
    apply: sql(`SET LOCK_TIMEOUT ${ms}`),
    restore: sql('SET LOCK_TIMEOUT {saved}'),
  }
}
