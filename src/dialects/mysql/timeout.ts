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
export function lockWaitSeconds(seconds: number): SettingChange {
  return {
    apply: sql(
      'SET @holdfast_row_wait = @@SESSION.innodb_lock_wait_timeout, @holdfast_table_wait = @@SESSION.lock_wait_timeout, ' +
        `SESSION innodb_lock_wait_timeout = ${seconds}, SESSION lock_wait_timeout = ${seconds}`,
    ),
    restore: sql(
      'SET SESSION innodb_lock_wait_timeout = @holdfast_row_wait, SESSION lock_wait_timeout = @holdfast_table_wait, ' +
        '@holdfast_row_wait = NULL, @holdfast_table_wait = NULL',
    ),
  }
}
