import type { SettingChange } from '../../core/plan.ts'
import { sql } from '../sql.ts'

export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

/**
 * Both of the session's lock waits: rows (InnoDB) and the table's definition (metadata), in whole seconds.
 *
 * Neither can be set for one statement or one transaction, and pools do not reset them, so they are put back. The old
 * values stay on the server meanwhile, which saves the round trip that reads them.
 */
export function lockWaitSeconds(seconds: number, during: 'call' | 'transaction'): SettingChange {
  // the setting of a call stands inside that of its transaction: each keeps its own old values
  const [rows, table] = [`@holdfast_${during}_rows`, `@holdfast_${during}_table`]
  return {
    apply: sql(
      `SET ${rows} = @@SESSION.innodb_lock_wait_timeout, ${table} = @@SESSION.lock_wait_timeout, ` +
        `SESSION innodb_lock_wait_timeout = ${seconds}, SESSION lock_wait_timeout = ${seconds}`,
    ),
    restore: sql(
      `SET SESSION innodb_lock_wait_timeout = ${rows}, SESSION lock_wait_timeout = ${table}, ` +
        `${rows} = NULL, ${table} = NULL`,
    ),
  }
}
